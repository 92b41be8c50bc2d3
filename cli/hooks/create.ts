import {
  contracts,
  type Hook,
  loadSenders,
  type SenderVerification,
} from '../../src/client/index.js';
import { type Context, command, textFlag } from '../command.js';
import { requestFields, requestFrom } from '../fields.js';
import { oneLine, safe } from '../text.js';
import { publicAddress } from '../tunnel/address.js';
import { type GuideResult, guideHook } from './guide.js';
import { hookTableColumns, type NewSecret, newHookSecret } from './hook.js';
import { findFirstSample } from './sample.js';
import {
  buildSenderForm,
  findHookSender,
  getSenderSettings,
  hookArgument,
  triggerLines,
} from './senders/form.js';

const { create } = await contracts.hooks();
const { faultOfSenderSecret } = await loadSenders();

export const SECRET = 'triggerConfig.webhookSecret';
/** Secret fields, which have no flag. */
export const secretFields = [SECRET, 'triggerConfig.webhookCredentialId'];

export const hookCreate = command({
  name: 'create',
  calls: [create],
  examples: [
    '',
    '--name github-issues --trigger webhook --webhook-path github-issues' +
      " --action spawn_agent --agent-prompt 'Triage this issue.' > secret.txt",
    '--data @hook.json --secret-file secret.txt --org acme',
  ],
  fields: () => requestFields(create.body, secretFields),
  takesData: true,
  flags: {
    secretFile: textFlag(
      '<file|->',
      'File with the secret. If not set, a secret is generated and shown once, unless the sender generates it',
    ),
  },
  notes: [
    'On a terminal, without flags other than --org, the command asks for all values.',
    'A generated secret goes to stdout alone, so that > file stores it. --json adds it to ' +
      'the reply as "secret".',
  ],
  seeAlso: 'adjutant hooks settings, adjutant help webhooks',
  run: async (context, { flags, fields, data }) => {
    const { orgId, ...others } = fields;
    const isBare = Object.keys(others).length === 0 && data === undefined;
    const guided = isBare && context.ask.isPossible ? await guideHook(context) : undefined;
    const requested = { ...(guided?.fields ?? others), orgId };
    const draft = await requestFrom(create.body, { fields: requested, data }, context.at);
    const isWebhook = draft.trigger === 'webhook';
    const isSecretGiven = draft.triggerConfig?.webhookSecret !== undefined;
    const secret =
      isWebhook && !isSecretGiven
        ? await readSenderSecret(context, draft.triggerConfig?.verify, flags.secretFile)
        : undefined;
    const triggerConfig = {
      ...draft.triggerConfig,
      ...(secret && { webhookSecret: secret.value }),
    };
    const client = await context.client();
    const hook = await client.hooks.create({ body: { ...draft, triggerConfig } });
    await present(context, hook, { secret, guided });
  },
});

/** Returns a new secret. A secret that the sender generates is asked for, and may be set later. */
const readSenderSecret = async (
  context: Context,
  verify: SenderVerification | undefined,
  file: string | undefined,
): Promise<NewSecret | undefined> => {
  const preset = typeof verify === 'string' ? verify : verify?.preset;
  if (preset === 'sns') return undefined;
  const theirs = preset && getSenderSettings(preset).theirs;
  if (theirs === undefined || file !== undefined) return newHookSecret(context, file);
  if (!context.ask.isPossible) return undefined;
  const value = await context.ask.hidden({
    ask: `Secret: ${theirs} (empty: later)`,
    instead: '--secret-file',
    refuse: (input) => {
      const fault = verify === undefined ? null : faultOfSenderSecret(verify, input);
      return fault === null ? undefined : `The secret ${fault}.`;
    },
  });
  return value === '' ? undefined : { value, isMade: false };
};

interface CreatedHookParts {
  secret?: NewSecret;
  guided?: GuideResult;
}

const present = async (
  context: Context,
  hook: Hook,
  { secret, guided }: CreatedHookParts,
): Promise<void> => {
  const { out, url } = context;
  const shown = secret?.isMade ? secret.value : undefined;
  if (out.format === 'json') {
    out.json({ ...hook, ...(shown && { secret: shown }) });
    return;
  }
  out.note(`Created ${safe(hook.name)}, ${hook.enabled ? 'enabled' : 'disabled'}.`);
  if (hook.trigger === 'webhook') await paste(context, hook, { secret, guided });
  if (shown) {
    out.note('');
    out.note('The secret, shown only once. Store it in a file that only you can read:');
    out.line(shown);
  } else if (out.format !== 'table') {
    out.item(hook, hookTableColumns);
  }
  const { reply } = hook.actionConfig;
  if (reply) {
    out.note('');
    out.note(
      `Each result is posted to the source of its delivery (${reply.preset}) without your approval.`,
    );
  }
  if (hook.trigger === 'email') {
    const { note } = hook.triggerConfig;
    if (note) out.warn(oneLine(note));
    await warnUnwatched(context, guided !== undefined);
  }
  out.note('');
  out.note(`Watch: adjutant hooks listen ${hookArgument(hook)}`);
  if (hook.trigger !== 'webhook') return;
  const sample = findFirstSample(guided?.sender ?? findHookSender(hook));
  const sampled = `adjutant hooks send ${hookArgument(hook)} --sample ${sample}`;
  for (const line of sample ? [sampled] : triggerLines(url, hook)) out.note(`Try:   ${line}`);
};

/** Warns if new mail does not fire the hook: there is no mailbox, or none is watched. */
const warnUnwatched = async (context: Context, isGuided: boolean): Promise<void> => {
  const client = await context.client();
  const { accounts } = await client.mailaccounts.list({ query: { limit: 200 } });
  const [first] = accounts;
  if (!first) {
    // The questions have already reported it.
    if (!isGuided) context.out.warn('No mail account yet. Add one: adjutant email setup');
  } else if (!accounts.some(({ watch }) => watch)) {
    context.out.warn(
      'No mailbox is watched, so new mail fires the hook only after it is processed: ' +
        `adjutant email accounts update ${safe(first.address)} --watch`,
    );
  }
};

const paste = async (
  context: Context,
  hook: Hook,
  { secret, guided }: CreatedHookParts,
): Promise<void> => {
  const { out } = context;
  const sender = guided?.sender ?? findHookSender(hook);
  const { webhookSecretSet } = hook.triggerConfig;
  const input = webhookSecretSet ? 'the one that you passed' : 'not set yet';
  const place = secret?.isMade ? 'below, shown only once' : input;
  const address = await publicAddress(context);
  const { where, facts, notes } = buildSenderForm(sender, address, hook, place);
  out.note('');
  out.note(`Paste into ${where}`);
  const width = Math.max(...facts.map(([name]) => name.length));
  for (const [name, value] of facts) out.note(`  ${name.padEnd(width)}  ${value}`);
  for (const note of notes) out.note(note);
};
