import { createHash } from 'node:crypto';
import { canonical } from '../kernel/jsonvalue.js';
import { MIN_PIECE_LENGTH } from '../kernel/secretforms.js';
import { isSecretName } from '../providers/llm/quote.js';
import { McpFailed } from '../providers/mcp/connection.js';
import type { Definition } from '../providers/mcp/definition.js';
import { type Tool, type ToolContext, ToolFailed, type ToolGroup } from '../tools/module.js';
import { isQuarantined, type Pin } from './pinneddefinitions.js';
import type { ServerSecrets, ServerSpec } from './spec.js';

export type CallMcp = (
  server: string,
  definition: Definition,
  args: Record<string, unknown>,
  context: ToolContext,
) => Promise<unknown>;

/** Maximum description of a tool that is sent to a model. */
const MAX_DESCRIPTION = 4_096;

/** All MCP tools count as having side effects, sending data out and returning untrusted content. */
export const mcpGroup = (
  server: { name: string; orgId: string | null; spec: ServerSpec; whyOff: string | null },
  pins: Pin[],
  call: CallMcp,
): ToolGroup => ({
  skillId: server.name,
  description: `MCP server ${server.name}`,
  ...(server.orgId !== null && { orgId: server.orgId }),
  tools: pins.flatMap((pin) => {
    const definition = pin.pinned ?? pin.offered;
    return definition ? [createMcpTool(server, { pin, definition }, call)] : [];
  }),
});

const createMcpTool = (
  { name: skillId, orgId, spec, whyOff }: Parameters<typeof mcpGroup>[0],
  { pin, definition }: { pin: Pin; definition: Definition },
  call: CallMcp,
): Tool => ({
  skillId,
  name: definition.name,
  description: definition.description.slice(0, MAX_DESCRIPTION),
  inputSchema: definition.inputSchema,
  sideEffects: true,
  once: true,
  sendsOut: true,
  outside: true,
  needs: spec.everyone || orgId !== null ? null : 'mcp',
  unavailable: whyOff ?? unavailableReason(skillId, pin),
  isSafe: () => false,
  definitionDigest: computeDigest(spec, definition),
  run: (args, context) => call(skillId, definition, args, context),
});

const computeDigest = ({ at }: ServerSpec, definition: Definition): string =>
  createHash('sha256')
    .update(canonical([at, definition]))
    .digest('hex');

const unavailableReason = (server: string, pin: Pin): string | null => {
  if (isQuarantined(pin)) {
    return `The server ${server} changed ${pin.tool}. The tool is quarantined until an admin accepts it`;
  }
  return pin.offered === null ? `The server ${server} no longer offers ${pin.tool}` : null;
};

/**
 * Settings without a secret's name are excluded, because a value such as `production` may occur in
 * any text.
 */
export const secretTexts = (secrets: ServerSecrets | undefined): string[] =>
  [...Object.entries(secrets?.env ?? {}), ...Object.entries(secrets?.headers ?? {})]
    .filter(([name]) => isSecretName(name))
    .flatMap(([, value]) => [value, value.replace(/^\S+ /, '')])
    .filter(({ length }) => length >= MIN_PIECE_LENGTH);

/** Returns other errors unchanged. */
export const toolError = async (
  error: unknown,
  tool: string,
  redact: (text: string) => Promise<string>,
): Promise<unknown> => {
  if (!(error instanceof McpFailed)) return error;
  return new ToolFailed(`${tool}: ${await redact(error.message)}`, error.effectBegan, error);
};
