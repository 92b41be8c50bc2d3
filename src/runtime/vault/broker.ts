import { type Tool, type ToolContext, ToolFailed, ToolRefused } from '../tools/tool.js';
import type { Toolbox } from '../tools/toolbox.js';
import { credentialsIn, WITHIN, wholeName } from './naming.js';
import { type Sweep, sweeper } from './sweep.js';
import type { Vault } from './vault.js';

/**
 * Arguments name credentials, and their values are put in here, at the edge: what asks, permits and
 * records a call sees the names alone. What comes back is swept for what was put in.
 */
export const brokered = (toolbox: Toolbox, vault: Vault): Toolbox => {
  const known = new WeakMap<Tool, Tool>();
  const wrap = (tool: Tool): Tool => {
    const wrapped = known.get(tool) ?? { ...tool, run: running(tool, vault) };
    known.set(tool, wrapped);
    return wrapped;
  };
  return {
    groups: () => toolbox.groups().map((group) => ({ ...group, tools: group.tools.map(wrap) })),
    list: () => toolbox.list().map(wrap),
    find: (skillId, name) => {
      const tool = toolbox.find(skillId, name);
      return tool && wrap(tool);
    },
  };
};

const running =
  (tool: Tool, vault: Vault): Tool['run'] =>
  async (args, context) => {
    const names = new Set(credentialsIn(args));
    if (names.size === 0) return tool.run(args, context);
    const values = await borrowed(vault, { tool, args, context }, names);
    const sweep = sweeper([...values.values()]);
    const filled = Object.fromEntries(
      Object.entries(args).map(([key, value]) => [key, filledIn(value, values)]),
    );
    try {
      return swept(await tool.run(filled, { ...context, holdsSecret: true }), sweep);
    } catch (error) {
      throw sweptError(error, sweep);
    }
  };

interface Call {
  tool: Tool;
  args: Record<string, unknown>;
  context: ToolContext;
}

const borrowed = async (
  vault: Vault,
  call: Call,
  names: Set<string>,
): Promise<Map<string, string>> => {
  const values = new Map<string, string>();
  for (const name of names) {
    const loan = await vault.borrow(call.context.userId, { name });
    if (!loan) throw new ToolRefused(`No credential is called ${name}`);
    if (loan === 'expired') {
      throw new ToolRefused(`The credential ${name} has expired: its owner has to renew it`);
    }
    refuseTool(call.tool, loan);
    refuseHost(call.args, loan);
    values.set(
      name,
      loan.secret.take((bytes) => bytes.toString()),
    );
    vault.used(loan.id);
  }
  return values;
};

const refuseTool = (
  { skillId, name }: Tool,
  loan: { name: string; allowedTools: string[] },
): void => {
  const { allowedTools } = loan;
  if (allowedTools.includes(skillId) || allowedTools.includes(`${skillId}.${name}`)) return;
  throw new ToolRefused(`The credential ${loan.name} is not for ${skillId}.${name}: allowedTools`);
};

/** Ours: a tool without a `url` goes where it always goes, and allowedTools names it. */
const refuseHost = (
  { url }: Record<string, unknown>,
  loan: { name: string; allowedHosts: string[] },
): void => {
  if (url === undefined) return;
  // In an address it would be in logs, in errors, and in what redirects say.
  const host =
    typeof url === 'string' && credentialsIn(url).length === 0 && URL.canParse(url)
      ? new URL(url).host
      : null;
  if (host !== null && loan.allowedHosts.includes(host)) return;
  const where = host ?? 'into an address';
  throw new ToolRefused(`The credential ${loan.name} may not be sent to ${where}: allowedHosts`);
};

const filledIn = (value: unknown, values: Map<string, string>): unknown => {
  const whole = wholeName(value);
  if (whole !== null) return values.get(whole);
  return mapTexts(
    value,
    (text) => text.replace(WITHIN, (_, name) => values.get(name) ?? ''),
    (inner) => filledIn(inner, values),
  );
};

/** Every text of a value changed; `deeper` is asked for what it holds. */
const mapTexts = (
  value: unknown,
  change: (text: string) => string,
  deeper: (inner: unknown) => unknown,
): unknown => {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map(deeper);
  if (typeof value !== 'object' || value === null) return value;
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [change(key), deeper(inner)]),
  );
};

const swept = (value: unknown, sweep: Sweep): unknown =>
  mapTexts(value, sweep, (inner) => swept(inner, sweep));

const sweptError = (error: unknown, sweep: Sweep): unknown => {
  if (error instanceof ToolFailed) return new ToolFailed(sweep(error.message), error.effectBegan);
  if (!(error instanceof ToolRefused)) return error;
  const details = error.details?.map(({ path, message }) => ({
    path: sweep(path),
    message: sweep(message),
  }));
  return new ToolRefused(sweep(error.message), details);
};
