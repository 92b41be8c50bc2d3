import type { ModelFailureKind } from '../llm/model.js';
import { at, kindOfStatus, listAt, numberAt, textAt } from './event.js';
import { type CliTool, SYSTEM_FILE, type ToolEvent } from './tool.js';

/**
 * The adapter of Claude Code, for the stream that version 2.1.197 was observed to write. `--tools
 * ""` removes its own tools and `--strict-mcp-config` those of MCP servers; the first event lists
 * the tools that are left. Settings, hooks and skills of any folder are not read.
 */
export const claude: CliTool = {
  name: 'claude',
  files: {},
  args: ({ model, folder }) => [
    ...['--print', '--output-format', 'stream-json', '--verbose', '--include-partial-messages'],
    ...['--tools', '', '--strict-mcp-config', '--setting-sources', '', '--disable-slash-commands'],
    ...['--no-session-persistence', '--system-prompt-file', `${folder}/${SYSTEM_FILE}`],
    ...(model === null ? [] : ['--model', model]),
  ],
  env: () => ({
    CLAUDE_CODE_MAX_RETRIES: '0',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
  }),
  logins: ['.claude/.credentials.json'],
  keeps: ['.claude/.claude.json'],
  loginArgs: ['auth', 'login'],
  read: (event) => readers[textAt(event, 'type') ?? '']?.(event) ?? [],
};

const readers: Record<string, (event: unknown) => ToolEvent[]> = {
  system: (event) => (listAt(event, 'tools').length > 0 ? [{ is: 'armed' }] : []),
  stream_event: (event) => piece(at(event, 'event')),
  assistant: (event) =>
    listAt(event, 'message', 'content').some((part) => textAt(part, 'type') === 'tool_use')
      ? [{ is: 'armed' }]
      : refusal(event),
  rate_limit_event: (event) => quota(at(event, 'rate_limit_info')),
  result: (event) => (at(event, 'is_error') === true ? failure(event) : end(event)),
};

const piece = (event: unknown): ToolEvent[] => {
  if (textAt(event, 'type') !== 'content_block_delta') return [];
  const text = textAt(event, 'delta', 'text');
  return text === null ? [{ is: 'token' }] : [{ is: 'text', text }];
};

/** The errors that the tool reports itself if the provider refused. */
const REFUSALS: Record<string, ModelFailureKind> = {
  authentication_failed: 'credentials',
  billing_error: 'credentials',
  rate_limit: 'rate_limited',
  invalid_request: 'bad_request',
  server_error: 'server',
  unknown: 'server',
};

const refusal = (event: unknown): ToolEvent[] => {
  const said = textAt(event, 'error');
  if (said === null) return [];
  return [{ is: 'failure', kind: REFUSALS[said] ?? 'server', said: REFUSALS[said] ? said : '' }];
};

const failure = (event: unknown): ToolEvent[] => {
  const status = numberAt(event, 'api_error_status');
  const said = status === null ? '' : `status ${status}`;
  return [{ is: 'failure', kind: kindOfStatus(status), said }];
};

const end = (event: unknown): ToolEvent[] => [
  {
    is: 'usage',
    inputTokens: inputOf(at(event, 'usage')),
    outputTokens: numberAt(event, 'usage', 'output_tokens'),
  },
  {
    is: 'end',
    text: textAt(event, 'result'),
    isCut: textAt(event, 'stop_reason') === 'max_tokens',
  },
];

/** Returns the input tokens, including those from the cache. */
const inputOf = (usage: unknown): number | null => {
  const parts = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'];
  const told = parts.flatMap((part) => numberAt(usage, part) ?? []);
  return told.length === 0 ? null : told.reduce((all, one) => all + one);
};

/** Returns the quota. `utilization` is a fraction of 1, and `resetsAt` is in seconds since 1970. */
const quota = (told: unknown): ToolEvent[] => {
  const status = textAt(told, 'status');
  if (status === null) return [];
  const used = numberAt(told, 'utilization');
  const resetsAt = numberAt(told, 'resetsAt');
  const window = textAt(told, 'rateLimitType');
  return [
    {
      is: 'quota',
      quota: {
        used,
        limit: used === null ? null : 1,
        resetsAtMs: resetsAt === null ? null : resetsAt * 1000,
        exhausted: status === 'rejected',
        source: /^[\w-]{1,40}$/.test(window ?? '')
          ? `rate_limit_event ${window}`
          : 'rate_limit_event',
      },
    },
  ];
};
