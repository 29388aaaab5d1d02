package tracing

import "go.opentelemetry.io/otel/attribute"

// schemaURL names the version of the semantic conventions that the names are of. It is
// the last one that has those of generative AI.
const schemaURL = "https://opentelemetry.io/schemas/1.41.0"

// Attributes of the semantic conventions for generative AI, and one for errors.
const (
	operationName  = attribute.Key("gen_ai.operation.name")
	conversationID = attribute.Key("gen_ai.conversation.id")
	agentName      = attribute.Key("gen_ai.agent.name")
	workflowName   = attribute.Key("gen_ai.workflow.name")
	inputTokens    = attribute.Key("gen_ai.usage.input_tokens")
	outputTokens   = attribute.Key("gen_ai.usage.output_tokens")
	errorType      = attribute.Key("error.type")
)

// Operations. The policy has no operation in the semantic conventions.
const (
	invokeWorkflow = "invoke_workflow" // a room
	invokeAgent    = "invoke_agent"    // a turn
	policyDecide   = "moot.policy.decide"
)

// Attributes that the semantic conventions do not have.
const (
	roomPhase      = attribute.Key("moot.room.phase")
	turnNumber     = attribute.Key("moot.turn.number")
	turnOutcome    = attribute.Key("moot.turn.outcome")
	policyDigest   = attribute.Key("moot.policy.digest")
	decisionNumber = attribute.Key("moot.decision.number")
	decisionAction = attribute.Key("moot.decision.action") // speak, decline, finish or failed
	decisionAgent  = attribute.Key("moot.decision.agent")
	decisionReason = attribute.Key("moot.decision.reason")
)
