package adaptive

// maxWords is how many words of a turn are looked at.
const maxWords = 32

func appendWords(bag []uint16, text string) []uint16 { return bag }
