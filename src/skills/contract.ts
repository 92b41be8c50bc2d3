import Joi from 'joi';
import { Approval, digestSchema } from '../kernel/contract/approval.js';
import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

const source = () => s.oneOf('SkillSource', 'builtin', 'folder', 'mcp');
const status = () =>
  s
    .oneOf('SkillStatus', 'ready', 'unavailable', 'invalid', 'unconnected', 'failed', 'quarantined')
    .description('`quarantined`: an MCP server changed a tool, which waits for an admin');
const permission = () => s.oneOf('ToolPermission', 'allow', 'ask', 'deny');
const definition = {
  description: s.anyText(20_000),
  inputSchema: s.record('ToolInputSchema').description('JSON Schema of its arguments'),
};

const SkillTool = s.object('SkillTool', {
  name: s.text(200),
  ...definition,
  permission: permission(),
  sideEffects: s.flag(),
  outside: s.flag().description('What it returns was written by others'),
  reason: s.nullable(s.text(2_000)).description('Why it cannot run now'),
});

const McpServer = s.object('McpServerInfo', {
  origin: s.oneOf('McpOrigin', 'file', 'api').description('`mcp.json`, or added here'),
  transport: s.oneOf('McpTransport', 'stdio', 'http'),
  command: s.nullable(s.text(4_096)),
  args: s.list(s.anyText(32_768), 64),
  readable: s.list(s.text(4_096), 16),
  network: s.flag(),
  url: s.nullable(s.text(8_192)),
  everyone: s.flag().description('false: for admins, and who has the permission `mcp`'),
  timeoutMs: s.whole(1_000, 600_000),
  envSet: s.list(s.text(100), 50).description('Names alone: values are never shown'),
  headersSet: s.list(s.text(100), 50),
});

const Definition = s.object('ToolDefinition', definition);
const Pending = s.object('PendingTools', {
  digest: digestSchema().description('Of all that waits: what is to be given back to accept it'),
  tools: s.list(
    s.object('PendingTool', {
      name: s.text(200),
      before: s.nullable(Definition).description('null: the tool is new'),
      after: Definition,
    }),
    1_000,
  ),
});

export const SkillReply = s.object('Skill', {
  id: s.text(300),
  name: s.text(300),
  description: s.anyText(2_000),
  source: source(),
  status: status(),
  reason: s.nullable(s.text(2_000)).description('Why it is not ready'),
  tools: s.list(SkillTool, 1_000),
  server: s.nullable(McpServer).description('Shown to admins'),
  pending: s.nullable(Pending).description('Shown to admins'),
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
      .pattern(/^[A-Za-z0-9][A-Za-z0-9_-]*$/, 'must be letters, digits, - and _')
      .description('Also the id of its skill'),
    command: s.optional(s.text(4_096).description('A program that speaks MCP over its pipes')),
    args: s.optional(s.list(s.anyText(32_768), 60)),
    env: s.optional(texts('McpEnvironment').description('Write-only')),
    readable: s.optional(
      s.list(s.text(4_096), 16).description('Folders that it may read: where its program lies'),
    ),
    network: s.optional(s.flag().description('The whole network, this machine included')),
    url: s.optional(s.text(8_192).description('The address of a server for streamable HTTP')),
    headers: s.optional(texts('McpHeaders').description('Write-only')),
    everyone: s.optional(s.flag().description('Every user may use it, not admins alone')),
    timeoutMs: s.optional(s.whole(1_000, 600_000).description('How long a call may be silent')),
  })
  .xor('command', 'url');
export type NewMcpServer = s.Static<typeof NewMcpServer>;

export const skills = contract({
  list: endpoint.get('/api/skills', {
    summary: 'List what agents can use: groups of tools, skill folders, MCP servers',
    query: pageQuery('SkillQuery', { source: s.optional(source()), status: s.optional(status()) }),
    reply: pageOf('skills', SkillReply),
  }),
  tools: endpoint.get('/api/skills/tools/all', {
    summary: 'List every tool, of skills and MCP servers alike',
    query: pageQuery('ToolQuery', { skillId: s.optional(s.text(300)) }),
    reply: pageOf('tools', ListedTool),
  }),
  get: endpoint.get('/api/skills/{id}', {
    summary: 'Show a skill with its tools',
    reply: SkillReply,
  }),
  execute: endpoint.post('/api/skills/{skillId}/tools/{toolName}/execute', {
    summary: 'Run a tool; where its level is `ask`, 202 and the approval that it waits for',
    example: { arguments: { timezone: 'Europe/Berlin' } },
    body: s.object('SkillToolCall', {
      arguments: s.optional(s.record('ToolArguments')),
      approvalId: s.optional(
        s.text(80).description('The approval that was given for this very call'),
      ),
    }),
    reply: s.object('ToolResult', { result: s.json() }),
    otherReplies: { 202: s.object('ToolAsked', { approval: Approval }) },
  }),
  accept: endpoint.post('/api/skills/{id}/accept', {
    summary: 'Accept the tools of an MCP server as they are now',
    access: 'admin',
    audit: 'skills.accept',
    example: { digest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' },
    body: s.object('SkillAcceptance', {
      digest: digestSchema().description('`pending.digest` as shown'),
    }),
    reply: SkillReply,
  }),
  refresh: endpoint.post('/api/skills/{id}/refresh', {
    summary: 'Connect to an MCP server now, and see what it offers',
    access: 'admin',
    reply: SkillReply,
  }),
  'mcp-add': endpoint.post('/api/skills/mcp', {
    summary: 'Add an MCP server; its tools are accepted as they are then',
    access: 'admin',
    audit: 'skills.mcp_add',
    example: { name: 'docs', url: 'https://mcp.example.org/mcp' },
    body: NewMcpServer,
    reply: SkillReply,
    status: 201,
  }),
  'mcp-remove': endpoint.delete('/api/skills/mcp/{name}', {
    summary: 'Remove an MCP server that was added here',
    access: 'admin',
    audit: 'skills.mcp_remove',
  }),
});
