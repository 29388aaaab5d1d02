package waste

import (
	"strings"
	"unicode"
)

// ackWords is the number of words from which a text is no acknowledgement.
const ackWords = 12

// codeCharacters occur in code, paths and addresses, and hardly in a sentence that
// only acknowledges.
const codeCharacters = "`{}[]<>()=_/\\$#@|~^*"

// acknowledging are words that one of the first ackFrom words of an acknowledgement is.
// Without one a short text is often news: "the build fails".
var acknowledging = wordSet(`ok okay okey k kk ack acknowledged thanks thank thx ty cheers great good nice perfect excellent awesome cool fine sure yes
	yep yeah yup right agreed agree understood understand noted roger affirmative absolutely certainly indeed exactly alright welcome wonderful fantastic
	brilliant glad happy sounds got-it lgtm 👍 👌 🙏 ✅
	danke gut prima super klar verstanden einverstanden genau ja merci parfait compris entendu d'accord oui gracias vale perfecto entendido claro sí
	obrigado obrigada perfeito certo sim grazie perfetto capito bene sì dank bedankt goed begrepen tack bra tak takk dziękuję dobrze
	спасибо хорошо понял поняла понятно отлично ладно да 好 谢 谢谢 嗯 是 行 はい`)

// ackFrom is how many words from its start a text has to acknowledge.
const ackFrom = 3

// acknowledges reports whether a text with these words acknowledges, in under ackWords
// words without a number, a name, code and a question. The caller looks for names of
// participants.
func acknowledges(text string, words []string) bool {
	return len(words) < ackWords && !asks(text) && !strings.ContainsAny(text, codeCharacters) &&
		!strings.ContainsFunc(text, unicode.IsNumber) && !hasName(text) && begins(words)
}

// begins reports whether one of the first words acknowledges.
func begins(words []string) bool {
	before := ""
	for _, w := range words[:min(len(words), ackFrom)] {
		w = strings.TrimFunc(w, func(r rune) bool { return unicode.IsPunct(r) })
		if acknowledging[w] || acknowledging[before+"-"+w] {
			return true
		}
		before = w
	}
	return false
}

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

// asks reports whether a text has a question mark of any script.
func asks(text string) bool { return strings.ContainsAny(text, "?？؟;՞") }

// hasName reports whether a text has a word that looks like a name: a capital letter
// within it, or at its start where no sentence begins.
func hasName(text string) bool {
	starts := true
	for _, word := range strings.Fields(text) {
		bare := strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) })
		for i, r := range bare {
			if unicode.IsUpper(r) && (i > 0 && !abbreviated(bare) || i == 0 && !starts && !firstPerson(bare)) {
				return true
			}
		}
		starts = strings.ContainsAny(word[len(word)-1:], ".!:,") || strings.HasSuffix(word, "…")
	}
	return false
}

// abbreviated reports whether a word is like OK: two capital letters.
func abbreviated(word string) bool { return strings.ToLower(word) == "ok" }

// firstPerson reports whether a word is I, I'm, I'll and the like.
func firstPerson(word string) bool {
	return word == "I" || strings.HasPrefix(word, "I'") || strings.HasPrefix(word, "I’")
}
