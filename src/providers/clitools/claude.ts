import { listAt, memberAt, numberAt, textAt } from '../../kernel/jsonvalue.js';
import type { ModelFailureKind } from '../llm/model.js';
import { failureFromStatus, toolUsage } from './event.js';
import { type CliTool, SYSTEM_FILE, type ToolEvent } from './tool.js';

/**
 * Tested with version 2.1.197. `--tools ""` removes its own tools and `--strict-mcp-config` those
 * of MCP servers. The first event lists the remaining tools.
 */
export const claude: CliTool = {
  name: 'claude',
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
  readers: {
    system: (event) => (listAt(event, 'tools').length > 0 ? [{ is: 'armed' }] : []),
    stream_event: (event) => piece(memberAt(event, 'event')),
    assistant: (event) =>
      listAt(event, 'message', 'content').some((part) => textAt(part, 'type') === 'tool_use')
        ? [{ is: 'armed' }]
        : refusal(event),
    rate_limit_event: (event) => quota(memberAt(event, 'rate_limit_info')),
    result: (event) =>
      memberAt(event, 'is_error') === true
        ? [failureFromStatus(numberAt(event, 'api_error_status'))]
        : end(event),
  },
};

const piece = (event: unknown): ToolEvent[] => {
  if (textAt(event, 'type') !== 'content_block_delta') return [];
  const text = textAt(event, 'delta', 'text');
  return text === null ? [{ is: 'token' }] : [{ is: 'text', text }];
};

/** Errors that the tool reports if the provider refuses. */
const REFUSALS: Record<string, ModelFailureKind> = {
  authentication_failed: 'credentials',
  billing_error: 'credentials',
  rate_limit: 'rate_limited',
  invalid_request: 'bad_request',
  server_error: 'server',
  unknown: 'server',
};

const refusal = (event: unknown): ToolEvent[] => {
  const code = textAt(event, 'error');
  if (code === null) return [];
  return [{ is: 'failure', kind: REFUSALS[code] ?? 'server', detail: REFUSALS[code] ? code : '' }];
};

const end = (event: unknown): ToolEvent[] => [
  { ...toolUsage(memberAt(event, 'usage')), inputTokens: sumInputTokens(memberAt(event, 'usage')) },
  {
    is: 'end',
    text: textAt(event, 'result'),
    isCut: textAt(event, 'stop_reason') === 'max_tokens',
  },
];

const sumInputTokens = (usage: unknown): number | null => {
  const parts = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'];
  const reported = parts.flatMap((part) => numberAt(usage, part) ?? []);
  return reported.length === 0 ? null : reported.reduce((all, one) => all + one);
};

/** `utilization` is a fraction of 1, and `resetsAt` is in seconds since 1970. */
const quota = (reported: unknown): ToolEvent[] => {
  const status = textAt(reported, 'status');
  if (status === null) return [];
  const used = numberAt(reported, 'utilization');
  const resetsAt = numberAt(reported, 'resetsAt');
  const window = textAt(reported, 'rateLimitType');
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
