package foreign

import (
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"

	"github.com/folkmoot/moot/transcripts"
)

// Marks of captions. WebVTT names a speaker in <v Name>; SubRip has no field
// for one, so a name and a colon before the text stand for it in both.
var (
	cueTimes = regexp.MustCompile(`^(?:(\d+):)?(\d\d?):(\d\d)[.,](\d{1,3})\s+-->\s+(?:\d+:)?\d\d?:\d\d[.,]\d{1,3}(?:\s.*)?$`)
	cueVoice = regexp.MustCompile(`<v(?:\.[^ \t>]*)?[ \t]+([^>]*)>`)
	cueTag   = regexp.MustCompile(`</?[^<>]*>`)
	cueName  = regexp.MustCompile(`^\s*(?:>>\s*)?(\p{Lu}[\pL\pN .'_-]{0,39}):\s+(\S.*)$`)
	splitCue = regexp.MustCompile(`^(.+/\d+)-\d+$`)
)

// nobody is who speaks in captions that name nobody.
const nobody = "speaker"

// readCaptions reads WebVTT or SubRip. Cues are turns in the order of the
// file, also where they overlap. Teams writes what one person says as several
// cues whose ids differ in their last number; those are one turn.
func readCaptions(f Format) func(*input) (*talk, error) {
	return func(in *input) (*talk, error) {
		c := captions{talk: newTalk(in.name, f, "")}
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
		return c.talk, c.block(block, from, f)
	}
}

type captions struct {
	*talk
	cues int
}

// block takes what stands between two empty lines, from line n on.
func (c *captions) block(lines []string, n int, f Format) error {
	if len(lines) == 0 {
		return nil
	}
	if f == WebVTT {
		switch word, _, _ := strings.Cut(strings.TrimRight(lines[0], "\t "), " "); {
		case n == 1 && strings.HasPrefix(lines[0], "WEBVTT"):
			return nil
		case (word == "NOTE" || word == "STYLE" || word == "REGION") && c.timing(lines) != 0:
			c.leave("block " + word)
			return nil
		}
	}
	at := c.timing(lines)
	if at < 0 {
		return misshapen(fmt.Sprintf("%s:%d", c.name, n), fmt.Sprintf("here is to be a cue: its times, such as 00:01:02.500 --> 00:01:04.000, and its text; not %.60q", lines[0]), nil)
	}
	c.cues++
	seconds := cueStart(lines[at])
	p := piece{seconds: &seconds}
	if at == 1 {
		if m := splitCue.FindStringSubmatch(strings.TrimSpace(lines[0])); m != nil {
			p.id = m[1]
		}
	}
	c.cue(p, lines[at+1:])
	return nil
}

// timing returns which of the first two lines holds the times, or -1.
func (c *captions) timing(lines []string) int {
	for i := 0; i < min(2, len(lines)); i++ {
		if cueTimes.MatchString(strings.TrimSpace(lines[i])) {
			return i
		}
	}
	return -1
}

func cueStart(line string) float64 {
	m := cueTimes.FindStringSubmatch(strings.TrimSpace(line))
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

// cue takes a cue's text: a turn for each voice in it.
func (c *captions) cue(p piece, lines []string) {
	text := strings.Join(lines, "\n")
	voices := cueVoice.FindAllStringSubmatchIndex(text, -1)
	if len(voices) == 0 {
		c.plain(p, text)
		return
	}
	if before := caption(text[:voices[0][0]]); before != "" {
		c.plain(p, before)
	}
	for i, v := range voices {
		end := len(text)
		if i+1 < len(voices) {
			end = voices[i+1][0]
		}
		p.speaker, p.text = html.UnescapeString(text[v[2]:v[3]]), caption(text[v[1]:end])
		c.turn(p)
	}
}

// plain takes text without a voice.
func (c *captions) plain(p piece, text string) {
	p.speaker, p.text = nobody, caption(text)
	first, rest, more := strings.Cut(p.text, "\n")
	if m := cueName.FindStringSubmatch(first); m != nil {
		p.speaker, p.text = m[1], m[2]
		if more {
			p.text += "\n" + rest
		}
		c.change("speaker taken from the name before the text")
	}
	c.turn(p)
}

func (c *captions) turn(p piece) {
	if strings.TrimSpace(p.text) == "" {
		c.leave("cue without a text")
		return
	}
	if clean(p.speaker) == "" {
		p.speaker = nobody
	}
	p.speaker = c.seat(p.speaker, "", transcripts.KindHuman, "")
	c.say(p)
}

// caption returns the text of a cue without its tags.
func caption(s string) string {
	return strings.TrimSpace(html.UnescapeString(cueTag.ReplaceAllString(s, "")))
}
