import { memberAt, textAt } from '../../kernel/jsonvalue.js';
import { failureFromMessage, toolUsage } from './event.js';
import { type CliTool, SYSTEM_FILE, type ToolEvent } from './tool.js';

/** `code_mode_host` runs `exec`, which stays listed. */
const FEATURES = [
  ...['shell_tool', 'unified_exec', 'view_image', 'multi_agent', 'multi_agent_v2', 'code_mode'],
  ...['code_mode_host', 'goals', 'apps', 'plugins', 'hooks', 'image_generation', 'browser_use'],
  ...['computer_use', 'skill_search', 'tool_suggest', 'sleep_tool', 'shell_snapshot'],
];

/**
 * Tested with version 0.169.0, which sends whole messages. No flag removes `apply_patch` and
 * `exec`. In a read-only sandbox the first cannot write, and the second fails without its host.
 */
export const codex: CliTool = {
  name: 'codex',
  args: ({ model, folder }) => [
    ...['exec', '--json', '--skip-git-repo-check', '--ephemeral', '--sandbox', 'read-only'],
    ...['--ignore-user-config', '--ignore-rules'],
    ...set('features', `{${FEATURES.map((feature) => `${feature}=false`).join(',')}}`),
    ...set('web_search', '"disabled"'),
    ...set('agents.enabled', 'false'),
    ...set('tools.experimental_request_user_input.enabled', 'false'),
    ...set('project_doc_max_bytes', '0'),
    ...set('skills.include_instructions', 'false'),
    ...set('include_permissions_instructions', 'false'),
    ...set('include_environment_context', 'false'),
    ...set('model_instructions_file', JSON.stringify(`${folder}/${SYSTEM_FILE}`)),
    ...(model === null ? [] : ['--model', model]),
    '-',
  ],
  env: () => ({}),
  logins: ['.codex/auth.json'],
  loginArgs: ['login'],
  readers: {
    'item.started': (event) => armed(event),
    'item.completed': (event) => {
      const text = textAt(event, 'item', 'text');
      const isMessage = textAt(event, 'item', 'type') === 'agent_message';
      return isMessage && text !== null ? [{ is: 'text', text }] : armed(event);
    },
    'turn.completed': (event) => [
      toolUsage(memberAt(event, 'usage')),
      { is: 'end', text: null, isCut: false },
    ],
    // An earlier `error` event may be followed by a retry.
    'turn.failed': failureFromMessage,
  },
};

const set = (key: string, value: string): string[] => ['--config', `${key}=${value}`];

/** Items that are not calls of tools. */
const HARMLESS = ['agent_message', 'reasoning', 'error', 'todo_list', 'plan'];

const armed = (event: unknown): ToolEvent[] =>
  HARMLESS.includes(textAt(event, 'item', 'type') ?? '') ? [] : [{ is: 'armed' }];
