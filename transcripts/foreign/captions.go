package foreign

import (
	"cmp"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/folkmoot/moot/transcripts"
)

// Marks of captions. WebVTT names a speaker in <v Name>. SubRip has no field
// for a speaker, so a name and a colon before the text count in both.
var (
	captionTimes   = regexp.MustCompile(`^(?:(\d+):)?(\d\d?):(\d\d)[.,](\d{1,3})\s+-->\s+(?:\d+:)?\d\d?:\d\d[.,]\d{1,3}(?:\s.*)?$`)
	captionVoice   = regexp.MustCompile(`<v(?:\.[^ \t>]*)?[ \t]+([^>]*)>`)
	captionTag     = regexp.MustCompile(`</?[^<>]*>`)
	captionSpeaker = regexp.MustCompile(`^\s*(?:>>\s*)?(\p{Lu}[\pL\pN .'_-]{0,39}):\s+(\S.*)$`)
	splitCaption   = regexp.MustCompile(`^(.+/\d+)-\d+$`)
)

// unnamedSpeaker is the speaker of captions without a name.
const unnamedSpeaker = "speaker"

// readCaptions reads WebVTT or SubRip. Cues become turns in the order of the
// file, even where they overlap. Microsoft Teams splits the words of one person
// into cues whose ids differ in the last number only; they become one turn.
func readCaptions(f Format) func(*input) (*builder, error) {
	return func(in *input) (*builder, error) {
		c := captionReader{builder: in.newBuilder(f, "")}
		var block []string
		from := 1
		for n, line := range c.lines(in.raw) {
			if strings.TrimSpace(line) != "" {
				if len(block) == 0 {
					from = n
				}
				block = append(block, line)
				continue
			}
			if err := c.block(block, from, f); err != nil {
				return nil, err
			}
			block = nil
		}
		if err := c.block(block, from, f); err != nil {
			return nil, err
		}
		c.findNames()
		for _, x := range c.cues {
			c.addCaption(x.piece, x.lines)
		}
		return c.builder, nil
	}
}

type captionReader struct {
	*builder
	cues  []captionLines
	names map[string]bool // that stand for a speaker before a text
}

// captionLines are a piece with its lines.
type captionLines struct {
	piece
	lines []string
}

// findNames finds the names before texts that are speakers. A single "Well:" in a long
// film is none: half of the cues without a voice have a name, or the name occurs often.
func (c *captionReader) findNames() {
	unvoiced, named, counts := 0, 0, map[string]int{}
	for _, x := range c.cues {
		text := strings.Join(x.lines, "\n")
		if captionVoice.MatchString(text) {
			continue
		}
		unvoiced++
		first, _, _ := strings.Cut(plainCaption(text), "\n")
		if m := captionSpeaker.FindStringSubmatch(first); m != nil {
			named++
			counts[m[1]]++
		}
	}
	c.names = map[string]bool{}
	for name, n := range counts {
		c.names[name] = 2*named >= unvoiced || n >= 3 && 50*n >= unvoiced
	}
}

// block adds the cue between two empty lines. Its first line is line n.
func (c *captionReader) block(lines []string, n int, f Format) error {
	if len(lines) == 0 {
		return nil
	}
	if f == WebVTT {
		switch word, _, _ := strings.Cut(strings.TrimRight(lines[0], "\t "), " "); {
		case n == 1 && strings.HasPrefix(lines[0], "WEBVTT"):
			return nil
		case (word == "NOTE" || word == "STYLE" || word == "REGION") && c.timesLine(lines) != 0:
			c.leaveOut("block " + word)
			return nil
		}
	}
	at := c.timesLine(lines)
	if at < 0 {
		return c.skip(shapeError(fmt.Sprintf("%s:%d", c.name, n), fmt.Sprintf("expected a cue, its times as in 00:01:02.500 --> 00:01:04.000 and its text, not %.60q", lines[0]), nil))
	}
	seconds := captionStart(lines[at])
	p := piece{seconds: &seconds}
	if at == 1 {
		if m := splitCaption.FindStringSubmatch(strings.TrimSpace(lines[0])); m != nil {
			p.id = m[1]
		}
	}
	c.cues = append(c.cues, captionLines{p, lines[at+1:]})
	return nil
}

// timesLine returns which of the first two lines holds the times, or -1.
func (c *captionReader) timesLine(lines []string) int {
	return slices.IndexFunc(lines[:min(2, len(lines))], func(line string) bool { return captionTimes.MatchString(strings.TrimSpace(line)) })
}

func captionStart(line string) float64 {
	m := captionTimes.FindStringSubmatch(strings.TrimSpace(line))
	var n [4]float64
	for i, s := range m[1:5] {
		n[i], _ = strconv.ParseFloat(s, 64) // digits, or "" for no hours
	}
	millis := n[3]
	for range 3 - len(m[4]) {
		millis *= 10
	}
	return n[0]*3600 + n[1]*60 + n[2] + millis/1000
}

// addCaption adds the text of a cue: one turn for each voice in it.
func (c *captionReader) addCaption(p piece, lines []string) {
	text := strings.Join(lines, "\n")
	if c.teams(p, text) {
		return
	}
	voices := captionVoice.FindAllStringSubmatchIndex(text, -1)
	if len(voices) == 0 {
		c.unvoiced(p, text)
		return
	}
	if before := plainCaption(text[:voices[0][0]]); before != "" {
		c.unvoiced(p, before)
	}
	for i, v := range voices {
		end := len(text)
		if i+1 < len(voices) {
			end = voices[i+1][0]
		}
		p.speaker, p.text = html.UnescapeString(text[v[2]:v[3]]), plainCaption(text[v[1]:end])
		c.turn(p)
	}
}

// teams adds a cue of a transcript of Microsoft Teams with metadata: an object with the
// name of the speaker, the text and the time. It reports whether text is one.
func (c *captionReader) teams(p piece, text string) bool {
	if text = strings.TrimSpace(text); !strings.HasPrefix(text, "{") {
		return false
	}
	v, err := parse([]byte(text), c.name, 0)
	if err != nil || !v.has("spokenText") && !v.has("speakerName") {
		return false
	}
	p.speaker, p.text = v.get("speakerName").maybeText(), v.get("spokenText").maybeText()
	if at, err := time.Parse(time.RFC3339Nano, v.get("startDateTime").maybeText()); err == nil {
		p.at = at
	}
	c.turn(p)
	return true
}

// unvoiced adds text without a voice tag.
func (c *captionReader) unvoiced(p piece, text string) {
	p.speaker, p.text = unnamedSpeaker, plainCaption(text)
	first, rest, more := strings.Cut(p.text, "\n")
	if m := captionSpeaker.FindStringSubmatch(first); m != nil && c.names[m[1]] {
		p.speaker, p.text = m[1], m[2]
		if more {
			p.text += "\n" + rest
		}
		c.countChange("speaker taken from the name before the text")
	}
	c.turn(p)
}

// turn adds a piece, unless it has no text.
func (c *captionReader) turn(p piece) {
	if strings.TrimSpace(p.text) == "" {
		c.leaveOut("cue without a text")
		return
	}
	p.speaker = c.participant(cmp.Or(clean(p.speaker), unnamedSpeaker), "", transcripts.KindHuman, "")
	c.addTurn(p)
}

// plainCaption returns the text of a cue without its tags.
func plainCaption(s string) string {
	return strings.TrimSpace(html.UnescapeString(captionTag.ReplaceAllString(s, "")))
}
