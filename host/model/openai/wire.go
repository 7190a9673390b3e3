package openai

import "encoding/json"

// chatRequest asks for a chat completion.
type chatRequest struct {
	Model               string        `json:"model"`
	Messages            []chatMessage `json:"messages"`
	Stream              bool          `json:"stream"`
	StreamOptions       streamOptions `json:"stream_options"`
	MaxTokens           int64         `json:"max_tokens,omitempty"`
	MaxCompletionTokens int64         `json:"max_completion_tokens,omitempty"`
	ReasoningEffort     string        `json:"reasoning_effort,omitempty"`
	Tools               []chatTool    `json:"tools,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// chatMessage is a message of any role.
type chatMessage struct {
	Role       string     `json:"role"`
	Content    any        `json:"content,omitempty"` // a string, or []chatPart; nil: none
	ToolCalls  []chatCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

// chatPart is a part of a content, of one of the types that have a member here.
type chatPart struct {
	Type       string      `json:"type"`
	Text       string      `json:"text,omitempty"`
	ImageURL   *imageURL   `json:"image_url,omitempty"`
	InputAudio *inputAudio `json:"input_audio,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

type inputAudio struct {
	Data   string `json:"data"`
	Format string `json:"format"`
}

type chatCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function calledByName `json:"function"`
}

type calledByName struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type chatTool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

// function describes a tool.
type function struct {
	Type        string         `json:"type,omitempty"` // of the responses API alone
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	Parameters  map[string]any `json:"parameters"`
	Strict      *bool          `json:"strict,omitempty"`
}

// chatChunk is a piece of a streamed chat completion. What servers add to the API stands in it too.
type chatChunk struct {
	Choices []struct {
		Index int64 `json:"index"`
		Delta struct {
			Content string `json:"content"`
			Refusal string `json:"refusal"`
			// Servers that show reasoning use one of two names, none of which is OpenAI's.
			ReasoningContent string `json:"reasoning_content"`
			Reasoning        string `json:"reasoning"`
			ToolCalls        []struct {
				Index    int64        `json:"index"`
				ID       string       `json:"id"`
				Function calledByName `json:"function"`
			} `json:"tool_calls"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		PromptTokens        int64        `json:"prompt_tokens"`
		PromptTokensDetails inputDetails `json:"prompt_tokens_details"`
		CompletionTokens    int64        `json:"completion_tokens"`
		CompletionDetails   outputCounts `json:"completion_tokens_details"`
	} `json:"usage"`
}

type inputDetails struct {
	CachedTokens     int64 `json:"cached_tokens"`
	CacheWriteTokens int64 `json:"cache_write_tokens"`
}

type outputCounts struct {
	ReasoningTokens int64 `json:"reasoning_tokens"`
}

// responsesRequest asks for a response.
type responsesRequest struct {
	Model           string     `json:"model"`
	Stream          bool       `json:"stream"`
	Store           bool       `json:"store"`
	Include         []string   `json:"include"`
	Input           []item     `json:"input"`
	Instructions    string     `json:"instructions,omitempty"`
	MaxOutputTokens int64      `json:"max_output_tokens,omitempty"`
	Reasoning       *effort    `json:"reasoning,omitempty"`
	Tools           []function `json:"tools,omitempty"`
}

type effort struct {
	Effort  string `json:"effort"`
	Summary string `json:"summary"`
}

// item is one of a conversation: a message, which has a role and no type, or what its type says.
type item struct {
	Type    string `json:"type,omitempty"`
	Role    string `json:"role,omitempty"`
	Content any    `json:"content,omitempty"` // a string, or []itemPart

	ID               string     `json:"id,omitempty"` // reasoning
	EncryptedContent string     `json:"encrypted_content,omitempty"`
	Summary          []itemPart `json:"summary,omitzero"` // not nil: also if it is empty

	CallID    string `json:"call_id,omitempty"` // a call, or its result
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments,omitempty"`
	Output    any    `json:"output,omitempty"` // a string, or []itemPart
}

type itemPart struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	Detail   string `json:"detail,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
	Filename string `json:"filename,omitempty"`
	FileData string `json:"file_data,omitempty"`
}

// responseEvent is one of a streamed response, of any type.
type responseEvent struct {
	Type        string           `json:"type"`
	Delta       string           `json:"delta"`
	OutputIndex int64            `json:"output_index"`
	Item        responseItem     `json:"item"`
	Response    responseDocument `json:"response"`
	Code        string           `json:"code"`
	Message     string           `json:"message"`
}

type responseDocument struct {
	Output []responseItem `json:"output"`
	Error  struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	IncompleteDetails struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage *struct {
		InputTokens         int64        `json:"input_tokens"`
		InputTokensDetails  inputDetails `json:"input_tokens_details"`
		OutputTokens        int64        `json:"output_tokens"`
		OutputTokensDetails outputCounts `json:"output_tokens_details"`
	} `json:"usage"`
}

type responseItem struct {
	Type             string                           `json:"type"`
	ID               string                           `json:"id"`
	CallID           string                           `json:"call_id"`
	Name             string                           `json:"name"`
	Arguments        string                           `json:"arguments"`
	EncryptedContent string                           `json:"encrypted_content"`
	Summary          []struct{ Text string }          `json:"summary"`
	Content          []struct{ Text, Refusal string } `json:"content"`
}

// errorDocument is how a server says no, also within a stream. Codes are words, or numbers on servers that make theirs up.
type errorDocument struct {
	Error json.RawMessage `json:"error"`
}
