package foreign

import (
	"cmp"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"

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
		return c.builder, c.block(block, from, f)
	}
}

type captionReader struct {
	*builder
	cues int
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
	c.cues++
	seconds := captionStart(lines[at])
	p := piece{seconds: &seconds}
	if at == 1 {
		if m := splitCaption.FindStringSubmatch(strings.TrimSpace(lines[0])); m != nil {
			p.id = m[1]
		}
	}
	c.addCaption(p, lines[at+1:])
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

// unvoiced adds text without a voice tag.
func (c *captionReader) unvoiced(p piece, text string) {
	p.speaker, p.text = unnamedSpeaker, plainCaption(text)
	first, rest, more := strings.Cut(p.text, "\n")
	if m := captionSpeaker.FindStringSubmatch(first); m != nil {
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
