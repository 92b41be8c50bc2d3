import type { App } from '../../src/app.js';

/** Returns the parts of a running daemon that tests reach where the API cannot tell. */
export const inside = ({ modules }: App) => ({
  hub: modules.hub,
  queue: modules.jobs.queue,
  limitLanes: modules.jobs.limitLanes,
  vault: modules.vault.vault,
  toolbox: modules.tools.toolbox,
  folderOf: modules.tools.work.open,
  outgoing: modules.outbound.queue,
  outbox: modules.outbound.outbox,
  transports: modules.outbound.transports,
  toWebhooks: modules.outbound.toWebhooks,
  digests: modules.outbound.digests,
  reminders: modules.outbound.reminders,
  registry: modules.models.registry,
  approvals: modules.approvals,
  skills: modules.skills.skills,
  models: modules.agents.models,
  rows: modules.agents.rows,
  control: modules.agents.control,
  permissionsOf: modules.permissions.permissionsOf,
  links: modules.channels.links,
  schedule: modules.hooks.schedule,
  directory: modules.hooks.directory,
  retention: modules.system.retention,
  backups: modules.system.backups,
});
