import { isJsonType } from '../kernel/bodytext.js';
import type { Condition } from '../kernel/contract/condition.js';
import { jsonPrefix } from '../kernel/jsonprefix.js';
import type { FieldFault } from '../kernel/problem.js';
import { parseTimezone } from '../kernel/timezone.js';
import { replyPlatform } from '../providers/replies/platforms.js';
import { faultOfCron } from '../schedule/module.js';
import { faultOfValue } from './conditions.js';
import type { NewHook } from './contract.js';
import type { TriggerConfig } from './hook.js';
import { MAIL_EVENT_FIELDS } from './mailtriggers.js';
import type { HookPipelines } from './pipelines.js';
import { REPLY_PRESETS } from './replies/contract.js';
import { faultOfSenderSecret, verificationFaults } from './senders/faults.js';
import { isBrokenJson, placeholdersIn, splitPath } from './template.js';

/** In characters, in total, because each execution parses the conditions. */
const MAX_CONDITIONS_LENGTH = 128 * 1024;

export interface KnownReferences {
  models(userId: string): string[];
  faultsOfTools(userId: string, names: string[]): { at: number; message: string }[];
  literalsOf(userId: string, toolId: string, action: string): readonly string[];
  pipelines: Pick<HookPipelines, 'check'>;
  hasAddress(): boolean;
}

export type CheckedHook = Pick<
  NewHook,
  'trigger' | 'action' | 'actionConfig' | 'triggerConfig' | 'conditions'
>;

export const hookFaults = (
  hook: CheckedHook,
  userId: string,
  known: KnownReferences,
): FieldFault[] => [
  ...triggerFaults(hook, known),
  ...actionFaults(hook, userId, known),
  ...replyFaults(hook),
  ...conditionFaults(hook.conditions ?? [], 'conditions'),
  ...(hook.trigger === 'email' ? mailNameFaults(hook) : []),
];

/** Fields of the e-mail that do not exist. The prompt of an agent is not a template. */
const mailNameFaults = ({ actionConfig, conditions = [] }: CheckedHook): FieldFault[] => {
  const { agentPrompt: _, ...templates } = actionConfig;
  const placed = Object.entries(templates).flatMap(([field, value]) => {
    const unknown = placeholdersIn(JSON.stringify(value)).find(isUnknownMailField);
    const message = `contains the unknown placeholder {{${unknown}}}. ${MAIL_FIELDS}`;
    return unknown === undefined ? [] : [{ path: `actionConfig.${field}`, message }];
  });
  const judged = conditions.flatMap(({ field }, at) =>
    isUnknownMailField(field) || isMailField(field)
      ? [{ path: `conditions.${at}.field`, message: `is unknown for an e-mail. ${MAIL_FIELDS}` }]
      : [],
  );
  return [...placed, ...judged];
};

const isMailField = (name = ''): boolean => MAIL_EVENT_FIELDS.some((one) => one === name);

const isUnknownMailField = (name: string): boolean => {
  const [root, field] = splitPath(name);
  return root === 'email' && field !== undefined && !isMailField(field);
};

const MAIL_FIELDS = `The fields are ${MAIL_EVENT_FIELDS.map((name) => `email.${name}`).join(', ')}`;

const triggerFaults = (
  { trigger, triggerConfig = {} }: CheckedHook,
  known: KnownReferences,
): FieldFault[] => {
  const { webhookPath, webhookSecret, webhookCredentialId, cron, timezone } = triggerConfig;
  const faults: FieldFault[] = [];
  if (webhookCredentialId !== undefined && webhookSecret !== undefined) {
    const message = 'cannot be combined with webhookSecret. Send one of the two';
    faults.push({ path: 'triggerConfig.webhookCredentialId', message });
  }
  if (trigger === 'webhook' && !webhookPath) faults.push(needed('triggerConfig.webhookPath'));
  if (trigger === 'webhook') return [...faults, ...senderFaults(triggerConfig, known)];
  if (trigger !== 'schedule') return faults;
  if (timezone !== undefined && parseTimezone(timezone) === null) {
    const message = 'must be a time zone, as in "Europe/Berlin"';
    faults.push({ path: 'triggerConfig.timezone', message });
  }
  if (!cron) return [...faults, needed('triggerConfig.cron')];
  const fault = faultOfCron(cron);
  if (fault !== null) faults.push({ path: 'triggerConfig.cron', message: `must be ${fault}` });
  return faults;
};

const senderFaults = (
  { verify, webhookSecret }: TriggerConfig,
  known: KnownReferences,
): FieldFault[] => {
  if (verify === undefined) return [];
  const at = 'triggerConfig.verify';
  const faults = verificationFaults(verify, known.hasAddress()).map(({ path, message }) => ({
    path: path === '' ? at : `${at}.${path}`,
    message,
  }));
  const fault = faultOfSenderSecret(verify, webhookSecret);
  return fault === null
    ? faults
    : [...faults, { path: 'triggerConfig.webhookSecret', message: fault }];
};

export const actionFaults = (
  { action, actionConfig }: Pick<CheckedHook, 'action' | 'actionConfig'>,
  userId: string,
  known: Pick<KnownReferences, 'models' | 'faultsOfTools' | 'literalsOf'>,
): FieldFault[] => {
  const wants = {
    spawn_agent: ['agentPrompt'],
    notify: ['notifyMessage'],
    webhook: ['webhookUrl'],
    execute_tool: ['toolId', 'toolAction'],
    start_pipeline: ['templateId'],
  } as const;
  const faults = wants[action]
    .filter((field) => !actionConfig[field]?.trim())
    .map((field) => needed(`actionConfig.${field}`));
  const { agentModel, agentTools = [], credentialId } = actionConfig;
  for (const { at, message } of known.faultsOfTools(userId, agentTools)) {
    faults.push({ path: `actionConfig.agentTools.${at}`, message });
  }
  if (action === 'webhook') faults.push(...bodyFaults(actionConfig));
  if (action === 'execute_tool') faults.push(...literalFaults(actionConfig, userId, known));
  if (credentialId !== undefined) faults.push(...credentialFaults(action, actionConfig));
  const models = known.models(userId);
  if (agentModel !== undefined && !models.includes(agentModel)) {
    const message = `must be one of the models: ${models.join(', ')}`;
    faults.push({ path: 'actionConfig.agentModel', message });
  }
  return faults;
};

/** Only a verified delivery has a source. */
const replyFaults = ({
  trigger,
  triggerConfig,
  action,
  actionConfig: { reply },
}: CheckedHook): FieldFault[] => {
  if (reply === undefined) return [];
  const { preset, credentialId, mode, url } = reply;
  const verify = triggerConfig?.verify;
  const path = 'actionConfig.reply';
  if (trigger !== 'webhook') return [{ path, message: 'is only for the trigger webhook' }];
  if (action !== 'spawn_agent' && action !== 'start_pipeline') {
    return [{ path, message: 'is only for the actions spawn_agent and start_pipeline' }];
  }
  const platform = replyPlatform(preset);
  const faults: FieldFault[] = [];
  if (platform && credentialId === undefined) faults.push(needed(`${path}.credentialId`));
  if (url === undefined && !platform?.service) {
    const message = `is required for ${preset}: the address of your server`;
    faults.push({ path: `${path}.url`, message });
  }
  if (platform && url !== undefined && /[?#{]/.test(url)) {
    const message = 'must be the address of a server, without a query and placeholders';
    faults.push({ path: `${path}.url`, message });
  }
  const sender = typeof verify === 'string' ? verify : verify?.preset;
  if (platform && sender !== preset && REPLY_PRESETS.some((each) => each === sender)) {
    const message = `must be ${sender}, the sender that verify names, or url`;
    faults.push({ path: `${path}.preset`, message });
  }
  if (!platform && mode === 'update') {
    faults.push({ path: `${path}.mode`, message: 'must be create for url' });
  }
  return faults;
};

const bodyFaults = ({
  webhookBody = '',
  webhookHeaders = {},
}: CheckedHook['actionConfig']): FieldFault[] => {
  const type = Object.entries(webhookHeaders).find(([name]) => /^content-type$/i.test(name))?.[1];
  const isSentAsJson = type === undefined || isJsonType(type);
  const path = 'actionConfig.webhookBody';
  const message =
    'must be valid JSON when its placeholders are filled. For another format, set Content-Type in webhookHeaders';
  return isSentAsJson && isBrokenJson(webhookBody) ? [{ path, message }] : [];
};

const literalFaults = (
  { toolId = '', toolAction = '', toolParams = {} }: CheckedHook['actionConfig'],
  userId: string,
  known: Pick<KnownReferences, 'literalsOf'>,
): FieldFault[] =>
  known
    .literalsOf(userId, toolId, toolAction)
    .filter((name) => JSON.stringify(toolParams[name] ?? null).includes('{{'))
    .map((name) => ({
      path: `actionConfig.toolParams.${name}`,
      message: 'must not contain placeholders, because the trigger must not choose the recipient',
    }));

/**
 * A forward sends the credential as Authorization header. Tools name credentials in their
 * arguments.
 */
const credentialFaults = (
  action: CheckedHook['action'],
  { webhookHeaders = {} }: CheckedHook['actionConfig'],
): FieldFault[] => {
  const path = 'actionConfig.credentialId';
  if (action !== 'webhook') {
    const named = 'write { "$credential": "<name>" } into toolParams';
    return [{ path, message: `is only for the action webhook. For execute_tool, ${named}` }];
  }
  const isDoubled = Object.keys(webhookHeaders).some(
    (name) => name.toLowerCase() === 'authorization',
  );
  const message = 'cannot be combined with an Authorization header. Send one of the two';
  return isDoubled ? [{ path, message }] : [];
};

export const conditionFaults = (conditions: Condition[], at: string): FieldFault[] => {
  if (jsonPrefix(conditions, MAX_CONDITIONS_LENGTH).length > MAX_CONDITIONS_LENGTH) {
    return [{ path: at, message: 'must be at most 128 KiB of JSON in total' }];
  }
  return conditions.flatMap(({ operator, value }, index): FieldFault[] => {
    const path = `${at}.${index}.value`;
    if (operator === 'in' && !Array.isArray(value)) return [{ path, message: 'must be a list' }];
    if ((operator === 'gt' || operator === 'lt') && typeof value !== 'number') {
      return [{ path, message: 'must be a number' }];
    }
    if (operator !== 'exists' && value === undefined) return [needed(path)];
    const fault = faultOfValue({ field: '', operator, value });
    return fault === null ? [] : [{ path, message: `must be ${fault}` }];
  });
};

const needed = (path: string): FieldFault => ({ path, message: 'is required' });
