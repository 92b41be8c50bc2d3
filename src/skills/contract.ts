import Joi from 'joi';
import { contract } from '../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../kernel/contract/page.js';
import {
  anyText,
  flag,
  id,
  json,
  list,
  nullable,
  object,
  oneOf,
  optional,
  record,
  type Static,
  text,
  time,
  whole,
} from '../kernel/contract/schema.js';

const source = () => oneOf('SkillSource', 'builtin', 'folder', 'mcp');
const status = () =>
  oneOf(
    'SkillStatus',
    'ready',
    'unavailable',
    'invalid',
    'unconnected',
    'failed',
    'quarantined',
  ).description('`quarantined`: an MCP server changed a tool, which waits for an admin');
const permission = () => oneOf('ToolPermission', 'allow', 'ask', 'deny');
const digest = () =>
  text(64)
    .pattern(/^[0-9a-f]{64}$/)
    .messages({ 'string.pattern.base': 'must be 64 hexadecimal digits' });

const SkillTool = object('SkillTool', {
  name: text(200),
  description: anyText(20_000),
  inputSchema: record('ToolInputSchema').description('JSON Schema of its arguments'),
  permission: permission(),
  sideEffects: flag(),
  outside: flag().description('What it returns was written by others'),
  reason: nullable(text(2_000)).description('Why it cannot run now'),
});

const McpServer = object('McpServerInfo', {
  origin: oneOf('McpOrigin', 'file', 'api').description('`mcp.json`, or added here'),
  transport: oneOf('McpTransport', 'stdio', 'http'),
  command: nullable(text(4_096)),
  args: list(anyText(32_768), 64),
  readable: list(text(4_096), 16),
  network: flag(),
  url: nullable(text(8_192)),
  everyone: flag().description('false: for admins, and who has the permission `mcp`'),
  timeoutMs: whole(1_000, 600_000),
  envSet: list(text(100), 50).description('Names alone: values are never shown'),
  headersSet: list(text(100), 50),
});

const Definition = object('ToolDefinition', {
  description: anyText(20_000),
  inputSchema: record('ToolInputSchema').description('JSON Schema of its arguments'),
});
const Pending = object('PendingTools', {
  digest: digest().description('Of all that waits: what is to be given back to accept it'),
  tools: list(
    object('PendingTool', {
      name: text(200),
      before: nullable(Definition).description('null: the tool is new'),
      after: Definition,
    }),
    1_000,
  ),
});

export const SkillReply = object('Skill', {
  id: text(300),
  name: text(300),
  description: anyText(2_000),
  source: source(),
  status: status(),
  reason: nullable(text(2_000)).description('Why it is not ready'),
  tools: list(SkillTool, 1_000),
  server: nullable(McpServer).description('Shown to admins'),
  pending: nullable(Pending).description('Shown to admins'),
});
export type SkillReply = Static<typeof SkillReply>;

const ListedTool = object('ListedTool', {
  skillId: text(300),
  name: text(200),
  description: anyText(20_000),
  inputSchema: record('ToolInputSchema').description('JSON Schema of its arguments'),
  source: source(),
  permission: permission(),
});
export type ListedTool = Static<typeof ListedTool>;

/**
 * A copy of the schema in the contract of approvals, because contracts do not import each other.
 * The compiler checks that the two are equal.
 */
const Approval = object('Approval', {
  id: id('approval'),
  agentId: nullable(id('agent')).description('null: a call of yours without an agent'),
  tool: text(100).description('Id of the skill'),
  action: text(200).description('Name of its tool'),
  arguments: record('ApprovalArguments').description('Exactly what is run'),
  digest: digest().description('SHA-256 over agent, tool and arguments'),
  reason: text(1000).description('Why it is asked for'),
  untrusted: flag().description('The agent has read what came from outside'),
  status: oneOf('ApprovalStatus', 'pending', 'approved', 'denied', 'expired'),
  createdAt: time(),
  expiresAt: time().description('Without an answer it is denied then'),
  decidedAt: nullable(time()),
  decidedBy: nullable(id('user')),
  decisionReason: nullable(text(1000)).description('What was said about the answer'),
});

const texts = (label: string) =>
  Joi.object<Record<string, string>>()
    .pattern(/^[\w-]{1,100}$/, anyText(32_768))
    .max(50)
    .label(label);

const NewMcpServer = object('NewMcpServer', {
  name: text(40)
    .pattern(/^[A-Za-z0-9][A-Za-z0-9_-]*$/, 'must be letters, digits, - and _')
    .description('Also the id of its skill'),
  command: optional(text(4_096).description('A program that speaks MCP over its pipes')),
  args: optional(list(anyText(32_768), 60)),
  env: optional(texts('McpEnvironment').description('Write-only')),
  readable: optional(
    list(text(4_096), 16).description('Folders that it may read: where its program lies'),
  ),
  network: optional(flag().description('Ours: the whole network, this machine included')),
  url: optional(text(8_192).description('The address of a server for streamable HTTP')),
  headers: optional(texts('McpHeaders').description('Write-only')),
  everyone: optional(flag().description('Every user may use it, not admins alone')),
  timeoutMs: optional(whole(1_000, 600_000).description('How long a call may be silent')),
}).xor('command', 'url');
export type NewMcpServer = Static<typeof NewMcpServer>;

export const skills = contract({
  list: {
    method: 'GET',
    path: '/api/skills',
    summary: 'List what agents can use: groups of tools, skill folders, MCP servers',
    query: pageQuery('SkillQuery', { source: optional(source()), status: optional(status()) }),
    reply: pageOf('skills', SkillReply),
  },
  tools: {
    method: 'GET',
    path: '/api/skills/tools/all',
    summary: 'List every tool, of skills and MCP servers alike',
    query: pageQuery('ToolQuery', { skillId: optional(text(300)) }),
    reply: pageOf('tools', ListedTool),
  },
  get: {
    method: 'GET',
    path: '/api/skills/{id}',
    summary: 'Show a skill with its tools',
    reply: SkillReply,
  },
  execute: {
    method: 'POST',
    path: '/api/skills/{skillId}/tools/{toolName}/execute',
    summary: 'Run a tool; where its level is `ask`, 202 and the approval that it waits for',
    example: { arguments: { timezone: 'Europe/Berlin' } },
    body: object('SkillToolCall', {
      arguments: optional(record('ToolArguments')),
      approvalId: optional(text(80).description('The approval that was given for this very call')),
    }),
    reply: object('ToolResult', { result: json() }),
    answers: { 202: object('ToolAsked', { approval: Approval }) },
  },
  accept: {
    method: 'POST',
    path: '/api/skills/{id}/accept',
    summary: 'Accept the tools of an MCP server as they are now',
    access: 'admin',
    audit: 'skills.accept',
    example: { digest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' },
    body: object('SkillAcceptance', { digest: digest().description('`pending.digest` as shown') }),
    reply: SkillReply,
  },
  refresh: {
    method: 'POST',
    path: '/api/skills/{id}/refresh',
    summary: 'Connect to an MCP server now, and see what it offers',
    access: 'admin',
    reply: SkillReply,
  },
  'mcp-add': {
    method: 'POST',
    path: '/api/skills/mcp',
    summary: 'Add an MCP server; its tools are accepted as they are then',
    access: 'admin',
    audit: 'skills.mcp_add',
    example: { name: 'docs', url: 'https://mcp.example.org/mcp' },
    body: NewMcpServer,
    reply: SkillReply,
    status: 201,
  },
  'mcp-remove': {
    method: 'DELETE',
    path: '/api/skills/mcp/{name}',
    summary: 'Remove an MCP server that was added here',
    access: 'admin',
    audit: 'skills.mcp_remove',
  },
});
