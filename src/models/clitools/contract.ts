import { contract } from '../../kernel/contract/endpoint.js';
import {
  amount,
  anyText,
  flag,
  list,
  nullable,
  object,
  oneOf,
  text,
  time,
} from '../../kernel/contract/schema.js';

const name = () => oneOf('CliToolName', 'claude', 'codex', 'gemini', 'opencode');
const told = () => nullable(amount(0, Number.MAX_SAFE_INTEGER));

export const clitools = contract({
  status: {
    method: 'GET',
    path: '/api/models/cli/status',
    summary: 'Which command-line tools can be models here',
    reply: object('CliStatus', {
      tools: list(
        object('CliTool', {
          name: name(),
          available: flag().description('It is installed, and runs confined'),
          version: nullable(text(200)),
          path: nullable(text(4096)),
          loggedIn: flag().description(
            'Its login lies in its own HOME; whether it is still good, a call tells',
          ),
        }),
        10,
      ),
    }),
  },
  quota: {
    method: 'GET',
    path: '/api/models/cli/quota',
    summary: 'What command-line tools have told of their quotas since the start',
    reply: object('CliQuotas', {
      quotas: list(
        object('CliQuota', {
          name: name(),
          used: told().description('In the unit of limit; of a limit of 1, a part'),
          limit: told(),
          resetsAt: nullable(time()),
          exhausted: nullable(flag()),
          source: nullable(anyText(200)).description('What of the tool said so'),
        }),
        10,
      ),
    }),
  },
});
