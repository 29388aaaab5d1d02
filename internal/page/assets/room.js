// The page of a room.
import { Room } from "./store.js";
import "./rail.js";
import "./head.js";
import "./banner.js";
import "./roster.js";
import "./policy.js";
import "./plan.js";
import "./timeline.js";
import "./thread.js";
import "./letters.js";
import "./inspector.js";
import "./dock.js";
import "./sheets.js";

const room = new Room(document.body.dataset.room);
for (const part of document.querySelectorAll("moot-rail, moot-head, moot-banner, moot-roster, moot-policy, moot-plan, moot-timeline, moot-thread, moot-letters, moot-inspector, moot-dock, moot-panels")) part.connect(room);
room.start().catch((problem) => room.fail(problem));
