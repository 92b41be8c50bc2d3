import { memberAt, textAt } from '../../kernel/jsonvalue.js';
import { failureFromMessage, toolUsage } from './event.js';
import { type CliTool, SYSTEM_FILE } from './tool.js';

const POLICY_FILE = 'tools-off.toml';
const SETTINGS_FILE = 'settings.json';

/**
 * Tested with version 0.61.0. A policy of the highest rank denies every tool. Our settings take
 * precedence over those of any folder.
 */
export const gemini: CliTool = {
  name: 'gemini',
  files: {
    [POLICY_FILE]: '[[rule]]\ntoolName = "*"\ndecision = "deny"\npriority = 999\n',
    [SETTINGS_FILE]: JSON.stringify({
      general: { maxAttempts: 1, enableAutoUpdate: false },
      tools: { core: [] },
      privacy: { usageStatisticsEnabled: false },
    }),
  },
  args: ({ model, folder }) => [
    ...['--output-format', 'stream-json', '--skip-trust', '--approval-mode', 'default'],
    ...['--admin-policy', `${folder}/${POLICY_FILE}`],
    ...['--extensions', 'none', '--allowed-mcp-server-names', 'none'],
    ...(model === null ? [] : ['--model', model]),
  ],
  env: ({ folder }) => ({
    GEMINI_SYSTEM_MD: `${folder}/${SYSTEM_FILE}`,
    GEMINI_CLI_SYSTEM_SETTINGS_PATH: `${folder}/${SETTINGS_FILE}`,
  }),
  logins: ['.gemini/oauth_creds.json', '.gemini/gemini-credentials.json', '.gemini/.env'],
  keeps: ['.gemini/settings.json', '.gemini/google_accounts.json', '.gemini/installation_id'],
  loginArgs: [],
  readers: {
    message: (event) => {
      const text = textAt(event, 'content');
      return textAt(event, 'role') === 'assistant' && text !== null ? [{ is: 'text', text }] : [];
    },
    tool_use: () => [{ is: 'armed' }],
    result: (event) =>
      textAt(event, 'status') === 'success'
        ? [toolUsage(memberAt(event, 'stats')), { is: 'end', text: null, isCut: false }]
        : failureFromMessage(event),
  },
};
