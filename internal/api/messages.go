package api

// Messages are messages of a room, in the order of its log.
type Messages struct {
	Messages []Posted `json:"messages"`
	Next     int64    `json:"next" doc:"Sequence number to continue after"`
	More     bool     `json:"more,omitempty" doc:"There are further messages now"`
}

// A Posted is one message of a room as a reader sees it.
type Posted struct {
	Seq         int64  `json:"seq" doc:"Sequence number in the room's log"`
	Turn        int    `json:"turn,omitempty" doc:"The turn that it is the answer of"`
	From        string `json:"from"`
	To          string `json:"to,omitempty" doc:"The receiver; without it everybody"`
	Text        string `json:"text"`
	Time        string `json:"time" format:"date-time"`
	Source      string `json:"source,omitempty" doc:"user, applet or agent, if it was not posted in a turn"`
	FromSession string `json:"fromSession,omitempty" doc:"The session that sent it"`
	Cut         bool   `json:"cut,omitempty" doc:"The text is only the beginning"`
}
