import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { createPageSchema, pageQuery } from '../../kernel/contract/page.js';
import * as s from '../../kernel/contract/schema.js';

const scope = () => s.oneOf('GrantScope', 'conversation', 'host');

export const Grant = s.object('Grant', {
  id: s.id('grant'),
  orgId: s.orgId(),
  scope: scope(),
  tool: s.text(100).description('ID of the skill that provides the tool'),
  action: s.text(200).description('Name of the tool'),
  origin: s
    .nullable(s.text(300))
    .description('Scheme, host and port that the grant covers. `null` if the tool takes no URL'),
  method: s
    .nullable(s.text(10))
    .description(
      'HTTP method of the approved request. With the scope `host`, the grant covers this method; with `conversation`, all methods. An agent that has read content from outside may use the grant only for GET and this method. `null` if the call made no HTTP request',
    ),
  pathPrefix: s
    .nullable(s.text(8_192))
    .description(
      'Path of the approved request. With the scope `host`, an agent that has read content from outside may use the grant for GET requests to all paths of the host, and for other methods only for this path and paths below it. `null` if the call made no HTTP request or servers may read the path as another path. Such an agent may then use the grant only for GET requests',
    ),
  hookId: s
    .nullable(s.id('hook'))
    .description(
      'ID of the hook whose agents may use the grant. `null` if the grant belongs to a conversation',
    ),
  sessionId: s
    .nullable(s.id('session'))
    .description(
      'ID of the conversation whose agents may use the grant. `null` if the grant belongs to a hook',
    ),
  boundTo: s
    .nullable(s.anyText(200))
    .description(
      'Name of the hook or title of the conversation. `null` if the conversation has no title',
    ),
  agentId: s
    .id('agent')
    .description(
      'ID of the agent whose call led to the approval. Other agents of the hook or conversation may use the grant as well',
    ),
  approvalId: s
    .id('approval')
    .description('ID of the decided approval that created this standing approval (grant)'),
  createdAt: s.time(),
  expiresAt: s.time(),
  lastUsedAt: s.nullable(s.time()).description('Time of the last use. `null` if not used yet'),
  uses: s.integer(0, Number.MAX_SAFE_INTEGER).description('Number of calls that used the grant'),
});
export type Grant = s.Static<typeof Grant>;

export const grants = contract({
  list: endpoint.get('/api/skills/grants', {
    shared: 'member',
    summary: 'List standing approvals',
    description:
      'A standing approval (grant) allows later calls of a tool without asking, in one conversation or for one hook, for 30 days.',
    query: pageQuery('GrantQuery', {
      scope: s.optional(scope()),
      tool: s.optional(s.text(100).description('ID of the skill that provides the tool')),
      hookId: s.optional(s.text(80)),
      sessionId: s.optional(s.text(80)),
    }),
    reply: createPageSchema('grants', Grant),
  }),
  delete: endpoint.delete('/api/skills/grants/{id}', {
    shared: 'admin',
    summary: 'Delete a standing approval',
    description: 'Calls that the deleted approval covered require an approval again.',
    audit: 'grants.delete',
  }),
});
