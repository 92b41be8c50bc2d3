import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import * as s from '../../kernel/contract/schema.js';

const name = () => s.oneOf('CliToolName', 'claude', 'codex', 'gemini', 'opencode');
const figure = () => s.nullable(s.amount(0, Number.MAX_SAFE_INTEGER));

export const clitools = contract({
  status: endpoint.get('/api/models/cli/status', {
    summary: 'Which command-line tools can be models here',
    reply: s.object('CliStatus', {
      tools: s.list(
        s.object('CliTool', {
          name: name(),
          available: s.flag().description('It is installed, and runs confined'),
          version: s.nullable(s.text(200)),
          path: s.nullable(s.text(4096)),
          loggedIn: s
            .flag()
            .description('Its login lies in its own HOME; whether it is still good, a call tells'),
        }),
        10,
      ),
    }),
  }),
  quota: endpoint.get('/api/models/cli/quota', {
    summary: 'What command-line tools have told of their quotas since the start',
    reply: s.object('CliQuotas', {
      quotas: s.list(
        s.object('CliQuota', {
          name: name(),
          used: figure().description('In the unit of limit; of a limit of 1, a part'),
          limit: figure(),
          resetsAt: s.nullable(s.time()),
          exhausted: s.nullable(s.flag()),
          source: s.nullable(s.anyText(200)).description('What of the tool said so'),
        }),
        10,
      ),
    }),
  }),
});
