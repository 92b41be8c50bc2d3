import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import * as s from '../../kernel/contract/schema.js';

const name = () => s.oneOf('CliToolName', 'claude', 'codex', 'gemini', 'opencode');
const figure = () => s.nullable(s.number(0, Number.MAX_SAFE_INTEGER));

export const clitools = contract({
  status: endpoint.get('/api/models/cli/status', {
    summary: 'List supported command-line tools of model providers',
    reply: s.object('CliStatus', {
      tools: s.list(
        s.object('CliTool', {
          name: name(),
          available: s
            .boolean()
            .description('Whether the tool is installed and can run in a sandbox'),
          version: s
            .nullable(s.text(200))
            .description('Installed version. `null` if the tool is unavailable.'),
          path: s.nullable(s.text(4096)).description('Path of the executable. `null` if not found'),
          loggedIn: s
            .boolean()
            .description(
              'Whether a login is stored for the command-line tool. Adjutant does not check the login, which may have expired.',
            ),
        }),
        10,
      ),
    }),
  }),
  quota: endpoint.get('/api/models/cli/quota', {
    summary: 'List provider quotas that the command-line tools reported',
    description:
      'Each quota belongs to the provider account that the tool (`claude`, `codex`, `gemini` or `opencode`) is logged in to. Adjutant sets no quotas.',
    reply: s.object('CliQuotas', {
      quotas: s.list(
        s.object('CliQuota', {
          name: name(),
          used: figure().description(
            'Used amount, in the unit of `limit`. A fraction if `limit` is 1. `null` if the tool has not reported an amount.',
          ),
          limit: figure().description(
            'Quota limit, in the unit that the tool uses. 1 if the tool reports only fractions. `null` if the tool has not reported a limit.',
          ),
          resetsAt: s
            .nullable(s.time())
            .description(
              'Time at which the quota resets. `null` if the tool has not reported a time.',
            ),
          exhausted: s
            .nullable(s.boolean())
            .description('Whether the quota is used up. `null` if this is not known.'),
          source: s
            .nullable(s.anyText(200))
            .description(
              'Event of the tool that reported the quota. `null` if the tool has not reported a quota',
            ),
        }),
        10,
      ),
    }),
  }),
});
