/** Services that people use, with what the form can fill in. Every one of them speaks the OpenAI protocol. */
export interface ProviderPreset {
  key: string;
  name: string;
  hint: string;
  base_url: string;
  needs_key: boolean;
  model: string;
}

export const providerPresets: readonly ProviderPreset[] = [
  {
    key: "openai",
    name: "OpenAI",
    hint: "platform.openai.com",
    base_url: "https://api.openai.com/v1",
    needs_key: true,
    model: "gpt-4o-mini",
  },
  {
    key: "deepseek",
    name: "DeepSeek",
    hint: "platform.deepseek.com",
    base_url: "https://api.deepseek.com/v1",
    needs_key: true,
    model: "deepseek-chat",
  },
  {
    key: "openrouter",
    name: "OpenRouter",
    hint: "Many models behind one key",
    base_url: "https://openrouter.ai/api/v1",
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
    hint: "Any service that speaks the OpenAI protocol",
    base_url: "",
    needs_key: false,
    model: "",
  },
];
