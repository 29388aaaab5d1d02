package problem

// apiCodes are about the HTTP API of a server and its clients.
var apiCodes = []Meaning{
	{"API-ANSWER", failure, "The address is not that of a server of this kind, or its release is another one.", "Check the address with `moot doctor`, and use the same release on both sides."},
	{"API-COMMAND", usage, "A command for a room names an act that does not exist, or lacks what the act needs.", "`moot schema openapi` describes the commands."},
	{"API-FORBIDDEN", denied, "The credential of a request does not allow it.", "Use a token with the scope and the room that it needs."},
	{"API-REQUEST", usage, "A request is not one that the server knows, or its body has an unknown, duplicate or invalid field.", "`moot schema openapi` describes the requests."},
	{"API-UNAUTHORIZED", denied, "A request has no valid credential.", "Send a token: Authorization: Bearer TOKEN."},
	{"API-UNREACHABLE", failure, "The server does not answer.", "Check that it runs, and its address."},
	{"MCP-ID", usage, "A tool was called with something that cannot be the id of a room, a seat or a session.", "Use the ids that list_rooms and read_room return."},
	{"MCP-ROOM", usage, "A tool was called without a room, and the credential is not for a single one.", "Pass the id of the room: list_rooms lists them."},
	{"MCP-SEAT", usage, "A tool was called without a seat, and the credential has none.", "Pass the id of the seat: read_room lists them."},
	{"MCP-WAITING", usage, "A tool was asked for an answer that waits, with an id that is none.", "Pass the id that answer_turn returned."},
	{"API-URL", usage, "The address of a server is none.", "Write it as http://127.0.0.1:8420."},
	{"SERVER-RUNNING", failure, "A server runs for this data folder already.", "Use it, end it first, or choose another data folder with --data."},
	{"SERVER-SOCKET", failure, "The socket by which other commands reach this process cannot be used safely.", "The folder `sockets` in the data folder must belong to you, with mode 0700. Choose a data folder with a shorter path if its path is too long."},
}
