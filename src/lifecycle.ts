import type { Modules } from './modules.js';

/** Loads what the modules keep in memory, then starts the queues and timers. */
export const startModules = async (modules: Modules): Promise<void> => {
  const { hooks, vault, outbound, models, channels, skills, agents, jobs, system } = modules;
  await hooks.load();
  await vault.vault.refresh();
  await outbound.load();
  await models.load();
  await channels.load();
  await skills.skills.start();
  await agents.load();
  await outbound.queue.start();
  await modules.knowledge.start();
  await modules.documents.start();
  await modules.capabilities.start();
  await modules.voice.start();
  await modules.operations.start();
  await modules.folders.start();
  modules.folders.poll.start();
  await system.backups.start();
  // After the modules above have written: new batches may fill a disk that is almost full.
  await jobs.queue.start();
  await modules.pipelines.start();
  modules.email.watcher.start();
  modules.schedule.start(listDueSources(modules));
  modules.orgs.start(modules.work);
};

/** Accepts no new work, and waits at most `waitMs` for running work. */
export const stopModules = async (modules: Modules, waitMs: number): Promise<void> => {
  const { outbound, channels, skills, jobs, operations, system } = modules;
  await Promise.all([modules.schedule.stop(), modules.folders.poll.stop()]);
  await channels.receiver.stop();
  await modules.folders.stop();
  const queues = [operations, jobs.queue, outbound.queue];
  const { pipelines } = modules;
  const parts = [system.backups.stop(), pipelines.stop(waitMs), modules.email.watcher.stop()];
  await Promise.all([...parts, ...queues.map((queue) => queue.stop(waitMs))]);
  await skills.skills.stop();
  await modules.knowledge.stop();
  await modules.models.stop();
};

const listDueSources = (modules: Modules) => {
  const { hooks, recurring, approvals, channels, outbound, pipelines, tasks, system } = modules;
  return [
    hooks.schedules,
    ...recurring.sources,
    approvals.expiry,
    channels.due,
    outbound.digests,
    outbound.reminders,
    tasks.reminders,
    pipelines.due,
    system.backups.source,
    system.retention.source,
  ];
};
