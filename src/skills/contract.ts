import Joi from 'joi';
import { Approval, digestSchema } from '../kernel/contract/approval.js';
import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { createPageSchema, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

const source = () => s.oneOf('SkillSource', 'builtin', 'folder', 'mcp');
const status = () =>
  s
    .oneOf('SkillStatus', 'ready', 'unavailable', 'invalid', 'unconnected', 'failed', 'quarantined')
    .description(
      'Status of the skill. `quarantined`: the MCP server changed or added a tool, and an admin must accept the change first',
    );
const permission = () => s.oneOf('ToolPermission', 'allow', 'ask', 'deny');
const definition = {
  description: s.anyText(20_000),
  inputSchema: s.record('ToolInputSchema').description('JSON Schema of the arguments'),
};

const SkillTool = s.object('SkillTool', {
  name: s.text(200),
  ...definition,
  permission: permission(),
  sideEffects: s.boolean().description('Whether calls of the tool can have side effects'),
  outside: s
    .boolean()
    .description('Whether the tool returns content from outside, such as web pages'),
  reason: s
    .nullable(s.text(2_000))
    .description('Reason why the tool is unavailable. `null` if the tool is available.'),
});

const McpServer = s.object('McpServerInfo', {
  origin: s
    .oneOf('McpOrigin', 'file', 'api')
    .description('`file`: `mcp.json`. `api`: added through the API.'),
  transport: s.oneOf('McpTransport', 'stdio', 'http'),
  command: s
    .nullable(s.text(4_096))
    .description('Command that starts the server. `null` for a server with the transport `http`'),
  args: s.list(s.anyText(32_768), 64),
  readable: s.list(s.text(4_096), 16).description('Folders that the server may read'),
  network: s.boolean().description('Whether the server has network access'),
  url: s
    .nullable(s.text(8_192))
    .description('Address of the server. `null` for a server with the transport `stdio`'),
  everyone: s
    .boolean()
    .description(
      'Whether every user may use the server. Otherwise only admins and users with the ' +
        'permission `mcp` may.',
    ),
  timeoutMs: s
    .integer(1_000, 600_000)
    .description('Maximum time without a response during a call, in milliseconds'),
  envSet: s
    .list(s.text(100), 50)
    .description('Names of the environment variables. Values are never returned.'),
  headersSet: s
    .list(s.text(100), 50)
    .description(
      'Names of the headers sent with each request to the server. Values are never returned.',
    ),
});

const Definition = s.object('ToolDefinition', definition);
const Pending = s.object('PendingTools', {
  digest: digestSchema().description(
    'SHA-256 of all pending definitions. Pass this digest when you accept the definitions.',
  ),
  tools: s.list(
    s.object('PendingTool', {
      name: s.text(200),
      before: s.nullable(Definition).description('Accepted definition. `null` if the tool is new.'),
      after: Definition,
    }),
    1_000,
  ),
});

export const SkillReply = s.object('Skill', {
  id: s.text(300),
  orgId: s
    .nullable(s.id('org'))
    .description(
      'ID of the organization that owns the MCP server. `null` for the skills of the installation',
    ),
  name: s.text(300),
  description: s.anyText(2_000),
  source: source(),
  status: status(),
  reason: s
    .nullable(s.text(2_000))
    .description('Reason why the skill is not ready. `null` if the skill is ready.'),
  tools: s.list(SkillTool, 1_000),
  server: s
    .nullable(McpServer)
    .description(
      'MCP server of the skill. `null` for other skills, and for users who may not change the server.',
    ),
  pending: s
    .nullable(Pending)
    .description(
      'Changed and new tools to accept. `null` if there are none, and for users who may not accept them.',
    ),
});
export type SkillReply = s.Static<typeof SkillReply>;

const ListedTool = s.object('ListedTool', {
  skillId: s.text(300),
  name: s.text(200),
  ...definition,
  source: source(),
  permission: permission(),
});
export type ListedTool = s.Static<typeof ListedTool>;

const texts = (label: string) =>
  Joi.object<Record<string, string>>()
    .pattern(/^[\w-]{1,100}$/, s.anyText(32_768))
    .max(50)
    .label(label);

export const NewMcpServer = s
  .object('NewMcpServer', {
    name: s
      .text(40)
      .pattern(
        /^[A-Za-z0-9][A-Za-z0-9_-]*$/,
        'letters, digits, - and _, starting with a letter or digit',
      )
      .description(
        'Name of the server, also the ID of its skill. For an organization, the name begins with its slug and a hyphen, such as `acme-docs`.',
      ),
    command: s.optional(
      s
        .text(4_096)
        .description(
          'Program that serves MCP over stdio. For an organization, only an admin of the installation may set it.',
        ),
    ),
    args: s.optional(
      s.list(s.anyText(32_768), 60).description('Command-line arguments of the program'),
    ),
    env: s.optional(
      texts('McpEnvironment').description('Environment variables of the program. Write-only.'),
    ),
    readable: s.optional(
      s
        .list(s.text(4_096), 16)
        .description('Folders that the program may read, such as its installation folder'),
    ),
    network: s.optional(
      s
        .boolean()
        .description(
          'Whether the program has network access, including to this machine. Defaults to `false`.',
        ),
    ),
    url: s.optional(
      s
        .url(8_192)
        .description(
          'URL of a server with the streamable HTTP transport. For an organization, the URL must be public or allowed by the setting `egressAllow`.',
        ),
    ),
    headers: s.optional(
      texts('McpHeaders').description(
        'Headers sent with each request to the server, by name. Write-only.',
      ),
    ),
    everyone: s.optional(
      s
        .boolean()
        .description(
          'Whether every user may use the server. Defaults to `false`. Not for servers of an organization, which all its members may use.',
        ),
    ),
    timeoutMs: s.optional(
      s
        .integer(1_000, 600_000)
        .description(
          'Maximum time without a response during a call, in milliseconds. Defaults to 60000.',
        ),
    ),
  })
  .xor('command', 'url');
export type NewMcpServer = s.Static<typeof NewMcpServer>;

export const skills = contract({
  list: endpoint.get('/api/skills', {
    shared: 'member',
    orderedBy: ['id'],
    summary: 'List skills',
    description:
      'A skill is a group of tools that agents and hooks can call, or a folder with instructions for agents.',
    query: pageQuery('SkillQuery', { source: s.optional(source()), status: s.optional(status()) }),
    reply: createPageSchema('skills', SkillReply),
  }),
  tools: endpoint.get('/api/skills/tools/all', {
    shared: 'member',
    orderedBy: ['skillId', 'name'],
    summary: 'List tools of all skills',
    query: pageQuery('ToolQuery', { skillId: s.optional(s.text(300)) }),
    reply: createPageSchema('tools', ListedTool),
  }),
  get: endpoint.get('/api/skills/{id}', {
    shared: 'member',
    summary: 'Get a skill with its tools',
    reply: SkillReply,
  }),
  execute: endpoint.post('/api/skills/{skillId}/tools/{toolName}/execute', {
    shared: 'member',
    summary: 'Run a tool',
    maxReplyMs: 600_000,
    example: { arguments: { timezone: 'Europe/Berlin' } },
    body: s.object('SkillToolCall', {
      arguments: s.optional(s.record('ToolArguments')),
      approvalId: s.optional(
        s.text(80).description('ID of the approval that covers exactly this call'),
      ),
    }),
    reply: s.object('ToolResult', { result: s.json() }),
    otherReplies: { 202: s.object('ToolAsked', { approval: Approval }) },
  }),
  accept: endpoint.post('/api/skills/{id}/accept', {
    shared: 'admin',
    summary: 'Accept the changed tools of an MCP server',
    access: 'admin',
    audit: 'skills.accept',
    example: { digest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' },
    body: s.object('SkillAcceptance', {
      digest: digestSchema().description('Value of `pending.digest`'),
    }),
    reply: SkillReply,
  }),
  refresh: endpoint.post('/api/skills/{id}/refresh', {
    shared: 'admin',
    summary: 'Refresh the tools of an MCP server',
    description:
      'Requests the tools from the server. Fails with 409 if the skill is not an MCP server with a valid configuration.',
    access: 'admin',
    reply: SkillReply,
  }),
  'mcp-add': endpoint.post('/api/skills/mcp', {
    shared: 'admin',
    summary: 'Add an MCP server',
    access: 'admin',
    audit: 'skills.mcp_add',
    example: { name: 'docs', url: 'https://mcp.example.org/mcp' },
    body: NewMcpServer,
    reply: SkillReply,
    status: 201,
  }),
  'mcp-remove': endpoint.delete('/api/skills/mcp/{name}', {
    shared: 'admin',
    summary: 'Remove an MCP server',
    access: 'admin',
    audit: 'skills.mcp_remove',
  }),
});
