import { memberAt, numberAt, textAt } from '../../kernel/jsonvalue.js';
import { failureFromStatus, toolUsage } from './event.js';
import { type CliTool, SYSTEM_FILE, type ToolPrompt } from './tool.js';

const AGENT = 'adjutant';

/**
 * Tested with version 1.18.33, which sends whole parts. Denied tools are not offered. On 429 of its
 * provider it retries silently until our time limit.
 */
export const opencode: CliTool = {
  name: 'opencode',
  args: ({ model }) => [
    ...['run', '--pure', '--format', 'json', '--agent', AGENT],
    // Without a title, it requests one from its provider.
    ...['--title', AGENT],
    ...(model === null ? [] : ['--model', model]),
  ],
  env: (asking) => ({
    OPENCODE_CONFIG_CONTENT: JSON.stringify(buildOpencodeConfig(asking)),
    OPENCODE_DISABLE_PROJECT_CONFIG: '1',
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_CLAUDE_CODE: '1',
  }),
  logins: ['.local/share/opencode/auth.json'],
  keeps: ['.cache/opencode'],
  loginArgs: ['auth', 'login'],
  readers: {
    text: (event) => {
      const text = textAt(event, 'part', 'text');
      return text === null ? [] : [{ is: 'text', text }];
    },
    tool_use: () => [{ is: 'armed' }],
    step_finish: (event) => {
      const reason = textAt(event, 'part', 'reason');
      const usage = toolUsage(memberAt(event, 'part', 'tokens'), 'input', 'output');
      if (reason === 'tool-calls') return [usage, { is: 'armed' }];
      return [usage, { is: 'end', text: null, isCut: reason === 'length' }];
    },
    error: (event) => {
      const failure = failureFromStatus(numberAt(event, 'error', 'data', 'statusCode'));
      const isLogin = textAt(event, 'error', 'name') === 'ProviderAuthError';
      return [isLogin ? { ...failure, kind: 'credentials' } : failure];
    },
  },
};

const buildOpencodeConfig = ({ folder }: ToolPrompt) => ({
  permission: { '*': 'deny' },
  share: 'disabled',
  autoupdate: false,
  agent: {
    [AGENT]: {
      mode: 'primary',
      prompt: `{file:${folder}/${SYSTEM_FILE}}`,
      permission: { '*': 'deny' },
    },
  },
});
