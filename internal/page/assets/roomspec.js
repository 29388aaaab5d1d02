// Makes the description of a room from what a person has chosen. It is a room.yaml in JSON,
// which is YAML too.

const reserved = ["room", "policy", "host", "broadcast"];

// idFor makes the id of a seat from a name: letters, digits, _ and -, not one of taken.
export function idFor(name, taken) {
  let id = name.normalize("NFKD").replace(/[^A-Za-z0-9_-]+/g, "").replace(/^[^A-Za-z]+/, "").slice(0, 28) || "agent";
  if (reserved.includes(id.toLowerCase())) id = `${id}1`;
  const used = new Set([...taken].map((x) => x.toLowerCase()));
  for (let n = 2, base = id; used.has(id.toLowerCase()); n++) id = `${base}-${n}`;
  return id;
}

// slug makes the name of a room from its objective: its first words.
export function slug(text) {
  const words = text.toLowerCase().normalize("NFKD").split(/[^a-z0-9]+/).filter(Boolean);
  let name = "";
  for (const w of words) {
    if (name.length + w.length > 40) break;
    name += (name ? "-" : "") + w;
  }
  return name;
}

// seatOf describes the seat of an agent: {installed, folder}, {profile} or {peer, shared,
// asks}.
function seatOf(agent, mode, taken) {
  if (agent.peer) {
    return {
      id: idFor(agent.shared, taken), name: agent.shared, mode, remembers: true, ...(agent.asks ? { profile: agent.asks } : {}),
      endpoint: { kind: "relay", peer: agent.peer.device, profile: agent.shared },
    };
  }
  if (agent.profile) {
    return { id: idFor(agent.profile.name, taken), mode, profile: agent.profile.name, ...remembers(agent.profile.kind), endpoint: agent.profile.endpoint };
  }
  const { name, title, tools, endpoint } = agent.installed;
  const folder = tools && agent.folder ? { cwd: literal(agent.folder) } : {};
  return { id: idFor(name, taken), name: title, mode, ...(tools ? { allowToolUse: true } : {}), endpoint: { ...endpoint, ...folder } };
}

// remembers says that the agent of a process keeps what it was told.
const remembers = (kind) => kind === "ndjson" ? { remembers: true } : {};

// roomOf describes a room of agents and, if you is a name, a person.
export function roomOf({ name, objective, agents, you, mode, policy, limits }) {
  const taken = new Set();
  const participants = you ? [{ id: idFor(you, taken), kind: "human" }] : [];
  if (you) taken.add(participants[0].id);
  for (const agent of agents) {
    const seat = seatOf(agent, mode, taken);
    taken.add(seat.id);
    participants.push(seat);
  }
  return {
    version: "room/v1", ...(name ? { name } : {}), objective: literal(objective), participants, policy,
    ...(Object.keys(limits ?? {}).length > 0 ? { limits } : {}),
  };
}

// oneToOne describes the room of the one-to-one note: your agent works with a shared one,
// whose answers nobody approves.
export function oneToOne({ name, objective, mine, theirs, you, mode }) {
  const room = roomOf({ name, objective, agents: [mine, theirs], you, mode });
  const [own, other] = room.participants.slice(-2);
  other.mode = "full_auto";
  return { ...room, oneToOne: true, policy: { use: "alternate", settings: { first: own.id } } };
}

// chat describes a room of you and a shared agent, which answers each of your messages.
export function chat({ name, objective, theirs, you }) {
  const room = roomOf({ name, objective, agents: [theirs], you, mode: "full_auto" });
  return { ...room, opening: literal(objective), policy: { use: "humanfirst" } };
}

// literal is a text in which the server expands no variables.
const literal = (text) => text.replaceAll("${", () => "$${"); // a text would make one $ of two
