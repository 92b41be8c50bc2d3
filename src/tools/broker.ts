import { mapTexts } from '../kernel/redact.js';
import { redactInWorker, redactTextInWorker } from '../kernel/redactinworker.js';
import { MIN_PIECE_LENGTH } from '../kernel/secretforms.js';
import type { Secret } from '../secrets/module.js';
import {
  CREDENTIAL_REFERENCE,
  findCredentialNames,
  hostRefusal,
  parseCredentialArgument,
  type UsableCredential,
  type Vault,
} from '../vault/module.js';
import { type Tool, type ToolContext, ToolFailed, ToolRefused } from './tool.js';
import { type Toolbox, toolboxFromGroups } from './toolbox.js';

/**
 * Credential values replace their names just before the tool runs. Everything else sees only names.
 * Results are redacted, including values of earlier calls, because a service may store what it
 * receives.
 */
export const brokerCredentials = (toolbox: Toolbox, vault: Vault): Toolbox => {
  const known = new WeakMap<Tool, Tool>();
  const wrap = (tool: Tool): Tool => {
    const wrapped = known.get(tool) ?? { ...tool, run: running(tool, vault) };
    known.set(tool, wrapped);
    return wrapped;
  };
  return toolboxFromGroups(() =>
    toolbox.groups().map((group) => ({ ...group, tools: group.tools.map(wrap) })),
  );
};

const running =
  (tool: Tool, vault: Vault): Tool['run'] =>
  async (args, context) => {
    const call = { tool, args, context };
    refuseExposed(tool, args);
    const values = await borrowCredentials(vault, call, new Set(findCredentialNames(args)));
    const openLent = tool.isStateless
      ? () => []
      : await vault.openSecretsFor(context.userId, (lending) => mayHaveReceived(call, lending));
    const secrets = () => [...values.values(), ...known(openLent())];
    const clean = (outcome: unknown) => redactOutcome(outcome, secrets());
    const redact = (text: string) => redactTextInWorker(text, secrets());
    try {
      return await clean(await runWithValues({ ...call, context: { ...context, redact } }, values));
    } catch (error) {
      throw await clean(error);
    }
  };

const redactOutcome = (outcome: unknown, values: string[]): Promise<unknown> =>
  outcome instanceof Error ? redactError(outcome, values) : redactInWorker(outcome, values);

const runWithValues = (
  { tool, args, context }: BrokeredCall,
  values: Map<string, string>,
): Promise<unknown> => {
  if (values.size === 0) return tool.run(args, context);
  const filled = Object.entries(args).map(([key, value]) => [key, filledIn(value, values)]);
  return tool.run(Object.fromEntries(filled), { ...context, holdsSecret: true });
};

/** Whether the recipient may have received the value before. */
const mayHaveReceived = ({ tool, args }: BrokeredCall, lending: UsableCredential): boolean =>
  isFor(tool, lending) || lending.allowedHosts.includes(parseUrlArgument(args)?.host ?? '');

/** Shorter values occur in most texts by chance. */
const known = (secrets: Secret[]): string[] =>
  secrets.map(textIn).filter(({ length }) => length >= MIN_PIECE_LENGTH);

const textIn = (secret: Secret): string => secret.take((bytes) => bytes.toString());

interface BrokeredCall {
  tool: Tool;
  args: Record<string, unknown>;
  context: ToolContext;
}

const borrowCredentials = async (
  vault: Vault,
  call: BrokeredCall,
  names: Set<string>,
): Promise<Map<string, string>> => {
  const values = new Map<string, string>();
  for (const name of names) {
    const credential = await vault.borrow(call.context.userId, { name });
    if (!credential) throw new ToolRefused(`No credential named ${name}`);
    if (credential === 'expired') {
      throw new ToolRefused(
        `The credential ${name} has expired. The owner must renew the credential.`,
      );
    }
    if (credential === 'damaged') {
      throw new ToolRefused(
        `The value of the credential ${name} is damaged. The owner must rotate the credential.`,
      );
    }
    refuseTool(call.tool, credential);
    refuseHost(call.args, credential);
    values.set(name, textIn(credential.secret));
    vault.used(credential.id);
  }
  return values;
};

const refuseTool = (tool: Tool, credential: UsableCredential): void => {
  if (isFor(tool, credential)) return;
  const { skillId, name } = tool;
  throw new ToolRefused(
    `The credential ${credential.name} is not allowed for ${skillId}.${name}. Add the tool to its allowedTools.`,
  );
};

const isFor = ({ skillId, name }: Tool, { allowedTools }: UsableCredential): boolean =>
  allowedTools.includes(skillId) || allowedTools.includes(`${skillId}.${name}`);

/** Every user who can list processes could read it. */
const refuseExposed = ({ exposed = [] }: Tool, args: Record<string, unknown>): void => {
  for (const field of exposed) {
    const [name] = findCredentialNames(args[field]);
    if (name === undefined) continue;
    const remedy = 'Put it in env and let the program read it from there.';
    throw new ToolRefused(
      `The value of the credential ${name} must not be in ${field}, which other users of the machine can read. ${remedy}`,
    );
  }
};

/** A tool without `url` has a fixed destination, which allowedTools covers. */
const refuseHost = (args: Record<string, unknown>, credential: UsableCredential): void => {
  if (args.url === undefined) return;
  const to = parseUrlArgument(args);
  const reason = to
    ? hostRefusal(to, credential)
    : `The credential ${credential.name} must not be in a URL. Put it in a header or in the body`;
  if (reason !== null) throw new ToolRefused(reason);
};

/** Null without a URL, or if it contains a credential, which would appear in logs and redirects. */
const parseUrlArgument = ({ url }: Record<string, unknown>): URL | null =>
  typeof url === 'string' && findCredentialNames(url).length === 0 && URL.canParse(url)
    ? new URL(url)
    : null;

const filledIn = (value: unknown, values: Map<string, string>): unknown => {
  const whole = parseCredentialArgument(value);
  if (whole !== null) return values.get(whole);
  return mapTexts(
    value,
    (text) => text.replace(CREDENTIAL_REFERENCE, (_, name) => values.get(name) ?? ''),
    (inner) => filledIn(inner, values),
  );
};

const redactError = async (error: Error, values: string[]): Promise<Error> => {
  const redact = (text: string): Promise<string> => redactTextInWorker(text, values);
  if (error instanceof ToolFailed) {
    return new ToolFailed(await redact(error.message), error.effectBegan);
  }
  if (!(error instanceof ToolRefused)) return error;
  const details = error.details?.map(async ({ path, message }) => ({
    path: await redact(path),
    message: await redact(message),
  }));
  return new ToolRefused(await redact(error.message), details && (await Promise.all(details)));
};
