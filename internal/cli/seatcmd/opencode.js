// Written by `moot hook install opencode`, which replaces this file. When a session has finished its work, this
// plugin of opencode awaits the next turn of the seat and hands it to the session that has finished last.
import { spawn } from "node:child_process"

const command = MOOT_COMMAND

// turn runs the command, which waits for the turn. The end of its input tells it that opencode has ended.
const turn = () =>
	new Promise((resolve, reject) => {
		const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "ignore"] })
		const stop = () => child.kill()
		process.once("exit", stop)
		let answer = ""
		child.stdout.setEncoding("utf8").on("data", (text) => (answer += text))
		child.on("error", reject)
		child.on("close", () => {
			process.off("exit", stop)
			try {
				resolve(JSON.parse(answer))
			} catch {
				reject(new Error("moot has ended without an answer"))
			}
		})
	})

export const MootSeat = async ({ client }) => {
	let session, waiting = false

	const wait = async () => {
		for (;;) {
			const answer = await turn()
			if (answer.decision === "block") {
				const sent = await client.session.promptAsync({ path: { id: session }, body: { parts: [{ type: "text", text: answer.reason }] } })
				if (sent.error) throw new Error("opencode does not take the turn")
				return
			}
			if (!answer.again) throw new Error(answer.systemMessage)
		}
	}

	return {
		event: async ({ event }) => {
			if (event.type !== "session.idle") return
			const id = event.properties.sessionID
			const found = await client.session.get({ path: { id } })
			if (found.error || found.data.parentID) return // a subagent has ended, not the agent
			session = id
			if (waiting) return
			waiting = true
			wait()
				.catch((error) => client.tui.showToast({ body: { message: error.message, variant: "info" } }))
				.catch(() => {}) // there is no terminal
				.finally(() => (waiting = false))
		},
	}
}
