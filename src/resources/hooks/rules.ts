import { type Condition, faultOfPattern } from '../../runtime/hooks/conditions.js';
import { faultOfCron } from '../../runtime/hooks/schedule.js';
import type { NewHook } from './contract.js';

export interface Fault {
  path: string;
  message: string;
}

type Checked = Pick<NewHook, 'trigger' | 'action' | 'actionConfig' | 'triggerConfig'> & {
  conditions?: Condition[];
};

/** What a hook needs beyond its shape, each fault with the field it is about. */
export const faultsOf = (hook: Checked, known: { models: string[] }): Fault[] => [
  ...triggerFaults(hook),
  ...actionFaults(hook, known),
  ...conditionFaults(hook),
];

const triggerFaults = ({ trigger, triggerConfig = {} }: Checked): Fault[] => {
  const { webhookPath, webhookCredentialId, cron, timezone } = triggerConfig;
  const faults: Fault[] = [];
  if (webhookCredentialId !== undefined) {
    faults.push(notBuilt('triggerConfig.webhookCredentialId'));
  }
  if (trigger === 'approval_requested') {
    faults.push({ path: 'trigger', message: 'waits for approvals, and they are not built yet' });
  }
  if (trigger === 'webhook' && !webhookPath) faults.push(needed('triggerConfig.webhookPath'));
  if (trigger !== 'schedule') return faults;
  if (!cron) return [...faults, needed('triggerConfig.cron')];
  const fault = faultOfCron(cron, timezone);
  if (fault !== null) faults.push({ path: 'triggerConfig.cron', message: `must be ${fault}` });
  return faults;
};

const actionFaults = ({ action, actionConfig }: Checked, known: { models: string[] }): Fault[] => {
  const wants = {
    spawn_agent: ['agentPrompt'],
    notify: ['notifyMessage'],
    webhook: ['webhookUrl'],
    execute_tool: ['toolId', 'toolAction'],
  } as const;
  const faults = wants[action]
    .filter((field) => !actionConfig[field]?.trim())
    .map((field) => needed(`actionConfig.${field}`));
  const { agentModel, credentialId } = actionConfig;
  if (credentialId !== undefined) faults.push(notBuilt('actionConfig.credentialId'));
  if (agentModel !== undefined && !known.models.includes(agentModel)) {
    const message = `names no model; there are: ${known.models.join(', ')}`;
    faults.push({ path: 'actionConfig.agentModel', message });
  }
  return faults;
};

const conditionFaults = ({ conditions = [] }: Checked): Fault[] =>
  conditions.flatMap(({ operator, value }, index): Fault[] => {
    const path = `conditions.${index}.value`;
    if (operator === 'in' && !Array.isArray(value)) return [{ path, message: 'must be a list' }];
    if ((operator === 'gt' || operator === 'lt') && typeof value !== 'number') {
      return [{ path, message: 'must be a number' }];
    }
    if (operator !== 'exists' && value === undefined) return [needed(path)];
    const fault = operator === 'matches' ? faultOfPattern(value) : null;
    return fault === null ? [] : [{ path, message: `must be ${fault}` }];
  });

const needed = (path: string): Fault => ({ path, message: 'is required' });
const notBuilt = (path: string): Fault => ({
  path,
  message: 'names a vault entry, and the vault is not built yet',
});
