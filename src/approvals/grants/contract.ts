import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../../kernel/contract/page.js';
import * as s from '../../kernel/contract/schema.js';

const scope = () => s.oneOf('GrantScope', 'conversation', 'host');

export const Grant = s.object('Grant', {
  id: s.id('grant'),
  scope: scope(),
  tool: s.text(100).description('Id of the skill'),
  action: s.text(200).description('Name of its tool'),
  origin: s
    .nullable(s.text(300))
    .description('Scheme, host and port that it is for; null: the tool takes no URL'),
  method: s.nullable(s.text(10)).description('Of the approved request'),
  pathPrefix: s
    .nullable(s.text(8_192))
    .description('Path of the approved request: untrusted agents stay below it, except with GET'),
  hookId: s.nullable(s.id('hook')).description('It is for the agents of this hook'),
  sessionId: s.nullable(s.id('session')).description('Or for those of this conversation'),
  boundTo: s
    .nullable(s.anyText(200))
    .description('Name of the hook, or title of the conversation; null: it has none'),
  agentId: s.id('agent').description('Whose call was approved'),
  approvalId: s.id('approval').description('The approval that it was given with'),
  createdAt: s.time(),
  expiresAt: s.time(),
  lastUsedAt: s.nullable(s.time()),
  uses: s.whole(0, Number.MAX_SAFE_INTEGER).description('Calls that ran by it'),
});
export type Grant = s.Static<typeof Grant>;

export const grants = contract({
  list: endpoint.get('/api/skills/grants', {
    summary: 'List your approvals that stand, newest first',
    query: pageQuery('GrantQuery', {
      scope: s.optional(scope()),
      tool: s.optional(s.text(100)),
      hookId: s.optional(s.text(80)),
      sessionId: s.optional(s.text(80)),
    }),
    reply: pageOf('grants', Grant),
  }),
  delete: endpoint.delete('/api/skills/grants/{id}', {
    summary: 'Revoke a grant: from then on such calls wait for your approval again',
    audit: 'grants.delete',
  }),
});
