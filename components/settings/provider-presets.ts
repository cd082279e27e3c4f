/** Common services with initial values for the form. All support the OpenAI protocol. */
export interface ProviderPreset {
  key: string;
  name: string;
  hint: string;
  base_url: string;
  needs_key: boolean;
  /** Blank: a test lists the models, and fills in one that suits. */
  model: string;
  /** Models of the service that suit agents. */
  prefers?: RegExp;
}

export const providerPresets: readonly ProviderPreset[] = [
  {
    key: "openai",
    name: "OpenAI",
    hint: "platform.openai.com",
    base_url: "https://api.openai.com/v1",
    needs_key: true,
    model: "",
    prefers: /^gpt-\d+(?:\.\d+)?(?:-mini)?$/,
  },
  {
    key: "anthropic",
    name: "Anthropic",
    hint: "console.anthropic.com",
    base_url: "https://api.anthropic.com/v1",
    needs_key: true,
    model: "",
    prefers: /^claude-sonnet-/,
  },
  {
    key: "gemini",
    name: "Google Gemini",
    hint: "aistudio.google.com",
    base_url: "https://generativelanguage.googleapis.com/v1beta/openai",
    needs_key: true,
    model: "",
    prefers: /gemini-\d+(?:\.\d+)?-flash$/,
  },
  {
    key: "mistral",
    name: "Mistral",
    hint: "console.mistral.ai",
    base_url: "https://api.mistral.ai/v1",
    needs_key: true,
    model: "",
    prefers: /^mistral-medium-latest$|^mistral-large-latest$/,
  },
  {
    key: "xai",
    name: "xAI",
    hint: "console.x.ai",
    base_url: "https://api.x.ai/v1",
    needs_key: true,
    model: "",
    prefers: /^grok-\d+(?:\.\d+)?$/,
  },
  {
    key: "deepseek",
    name: "DeepSeek",
    hint: "platform.deepseek.com",
    base_url: "https://api.deepseek.com/v1",
    needs_key: true,
    model: "",
    prefers: /^deepseek-chat$/,
  },
  {
    key: "groq",
    name: "Groq",
    hint: "console.groq.com",
    base_url: "https://api.groq.com/openai/v1",
    needs_key: true,
    model: "",
    prefers: /gpt-oss-120b|llama-.{0,40}-70b/,
  },
  {
    key: "together",
    name: "Together",
    hint: "api.together.ai",
    base_url: "https://api.together.xyz/v1",
    needs_key: true,
    model: "",
    prefers: /Instruct-Turbo$/,
  },
  {
    key: "openrouter",
    name: "OpenRouter",
    hint: "Many models with one key",
    base_url: "https://openrouter.ai/api/v1",
    needs_key: true,
    model: "",
  },
  {
    key: "azure",
    name: "Azure OpenAI",
    hint: "Replace YOUR-RESOURCE in the URL",
    base_url: "https://YOUR-RESOURCE.openai.azure.com/openai/v1",
    needs_key: true,
    model: "",
  },
  {
    key: "ollama",
    name: "Ollama",
    hint: "On this machine, port 11434",
    base_url: "http://127.0.0.1:11434/v1",
    needs_key: false,
    model: "",
  },
  {
    key: "lm-studio",
    name: "LM Studio",
    hint: "On this machine, port 1234",
    base_url: "http://127.0.0.1:1234/v1",
    needs_key: false,
    model: "",
  },
  {
    key: "vllm",
    name: "vLLM",
    hint: "Your own server, port 8000",
    base_url: "http://127.0.0.1:8000/v1",
    needs_key: false,
    model: "",
  },
  {
    key: "other",
    name: "Other",
    hint: "Any OpenAI-compatible service",
    base_url: "",
    needs_key: false,
    model: "",
  },
];
