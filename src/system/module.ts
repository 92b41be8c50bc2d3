import { type Exposure, isExposed } from '../accounts/module.js';
import type { Agents } from '../agents/module.js';
import type { Base } from '../base.js';
import type { Capabilities } from '../capabilities/module.js';
import type { Channels } from '../channels/module.js';
import type { Config } from '../config.js';
import type { Documents } from '../documents/module.js';
import type { Jobs } from '../jobs/module.js';
import { createProxyWatch } from '../kernel/proxywatch.js';
import type { Knowledge } from '../knowledge/module.js';
import type { Outbound } from '../outbound/module.js';
import type { Confinement } from '../providers/confine/confinement.js';
import { unusedProxyNote } from '../proxy.js';
import type { Hub } from '../realtime/module.js';
import type { Secrets } from '../secrets/module.js';
import type { Migration } from '../store/engine/protocol.js';
import type { Tools } from '../tools/module.js';
import type { VaultModule } from '../vault/module.js';
import type { Voice } from '../voice/module.js';
import { createBackups } from './backup/backups.js';
import { backupsResource } from './backup/routes.js';
import type { Daemon } from './daemon.js';
import { doctorResource } from './doctor/routes.js';
import { healthResource } from './health/routes.js';
import { keysResource } from './keys/routes.js';
import { logsResource } from './logs/routes.js';
import { sweepFolders } from './maintenance/folders.js';
import { createGauges, createMeter } from './maintenance/meter.js';
import { createPartReports } from './maintenance/partreport.js';
import { createRetention } from './maintenance/retention.js';
import { overviewResource } from './overview/routes.js';
import { tunnelResource } from './tunnel/routes.js';
import { createTunnel } from './tunnel/tunnel.js';

export interface SystemModuleDeps {
  config: Config;
  hub: Hub;
  secrets: Secrets;
  vault: VaultModule;
  outbound: Outbound;
  tools: Tools;
  /** A backup is verified with these. */
  migrations: Migration[];
}

interface SystemResourcesDeps {
  jobs: Jobs;
  agents: Agents;
  channels: Channels;
  knowledge: Knowledge;
  /** Parts of the home that the doctor checks. */
  files: { documents: Documents; capabilities: Capabilities; voice: Voice };
  confinement: Confinement | null;
  daemon: Daemon;
}

export const openSystem = async (base: Base, deps: SystemModuleDeps) => {
  const { store, clock, log } = base;
  const { config, hub, secrets, outbound, tools, migrations } = deps;
  const { vault } = deps.vault;
  const { signer, masterKeys, prove } = secrets;
  const { seal: sealToken, unseal: unsealToken } = secrets.sealers.tunnel;
  const { outbox, queue: outgoing } = outbound;
  const tunnel = createTunnel(base, { config, hub, vault, unsealToken });
  // Before anything listens, since the settings decide which proxies are trusted.
  await tunnel.load();
  const backups = createBackups(base, { outbox, config, migrations, masterKeys });
  const { registration, host, publicUrl, trustedProxies } = config;
  const exposure = (): Exposure => {
    const isTunnelled = tunnel.row() !== null;
    return { registration, host, publicUrl, trustedProxies, isTunnelled };
  };
  const proxies = createProxyWatch({ clock, log, isNamed: () => isExposed(exposure()) });
  return {
    tunnel,
    backups,
    exposure,
    proxies,
    retention: createRetention({
      store,
      clock,
      log,
      retentionDays: config.retentionDays,
      forgetKeys: signer.forget,
      destroyVersions: vault.destroyPassed,
      sweepFolders: () => sweepFolders(store, tools.work),
    }),
    resources: (others: SystemResourcesDeps) => {
      const { jobs, agents, channels, knowledge, files, confinement, daemon } = others;
      const { queue } = jobs;
      const { models } = agents;
      const { sockets } = daemon;
      const since = clock.now();
      const uptimeSeconds = () => Math.max(0, Math.floor((clock.now() - since) / 1000));
      const meter = createMeter(createGauges({ queue, outgoing, sockets, uptimeSeconds }));
      const unconfined =
        'off: no confinement works on this machine. The shell tool is disabled, and documents are read unconfined';
      const parts = createPartReports(base, {
        queue,
        outgoing,
        models,
        tunnel,
        confinement: confinement?.detail ?? unconfined,
        settingFaults: files.capabilities.settingFaults,
      });
      return {
        meter,
        health: healthResource({
          uptimeSeconds,
          parts,
          metrics: meter.text,
          isDraining: daemon.isDraining,
          trustsLoopback: () => !isExposed(exposure()),
        }),
        doctor: doctorResource(base, {
          parts,
          prove,
          models: { states: models.states, embedder: knowledge.reportEmbedder },
          backups,
          daemon,
          exposure,
          proxy: unusedProxyNote(),
          proxies,
          tunnel,
          checks: {
            platforms: channels.unset,
            unread: channels.receiver.unread,
            originals: files.documents.check,
            capabilities: files.capabilities.check,
            roots: config.knowledgeRoots,
            voice: files.voice.engines,
          },
        }),
        overview: overviewResource(base, { config, uptimeSeconds, parts, tunnel, queue }),
        logs: logsResource(daemon.recent, hub),
        keys: keysResource(signer),
        backups: backupsResource(backups),
        tunnel: tunnelResource({ tunnel, store, clock, config, vault, sealToken }),
      };
    },
  };
};

export type System = Awaited<ReturnType<typeof openSystem>>;
