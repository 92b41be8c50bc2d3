import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../config.js';
import { unsealOrNull } from '../../kernel/envelope.js';
import { findProgram, programEnv } from '../../kernel/program.js';
import { TunnelNotStarted } from '../../providers/tunnels/child.js';
import { tunnelProvider } from '../../providers/tunnels/providers.js';
import { HOST_ALIAS } from '../../providers/tunnels/ssh.js';
import type { TunnelRun, TunnelSettings } from '../../providers/tunnels/tunnel.js';
import type { Hub } from '../../realtime/module.js';
import type { TunnelRow } from '../../store/tables/tunnel.js';
import type { Vault } from '../../vault/module.js';
import type { ProcessLines } from './lines.js';
import type { Plan } from './supervisor.js';

interface PlanInput {
  home: string;
  row: TunnelRow | null;
  publicUrl: string | null;
  port: number;
  lines: ProcessLines;
}

/** Throws TunnelNotStarted with what is missing. */
export const createTunnelPlan = async (
  deps: TunnelDeps,
  { home, row, publicUrl, port, lines }: PlanInput,
): Promise<Plan> => {
  const provider = row && tunnelProvider(row.provider);
  if (!row || !provider)
    throw new TunnelNotStarted('No tunnel program is configured. Run: adjutant tunnel setup');
  const { cliPath } = deps.config;
  const path = await findProgram(cliPath, provider.program);
  if (path === null)
    throw new TunnelNotStarted(
      `${provider.program} is not installed on the machine of the daemon. Install ${provider.program} there`,
    );
  const token = await loadTunnelToken(deps, row);
  lines.hide(token);
  const settings: TunnelSettings = JSON.parse(row.settings);
  const knownHosts = await keepHostKeys(home, settings);
  const run: TunnelRun = { settings, publicUrl, port, token, knownHosts };
  const env = { ...programEnv(cliPath), ...provider.env(run) };
  const launch = { path, args: provider.args(run), env, folders: cliPath };
  return { launch, hear: provider.hear };
};

const loadTunnelToken = async (
  { vault, unsealToken }: TunnelDeps,
  { id, credential_id, token_sealed }: TunnelRow,
): Promise<string | null> => {
  if (credential_id === null) {
    if (token_sealed === null) return null;
    const own = unsealOrNull(() => unsealToken(id, token_sealed));
    if (own === null)
      throw new TunnelNotStarted('The token of the tunnel is damaged. Set the token again');
    return own;
  }
  const token = await vault.newest(credential_id);
  if (token === null)
    throw new TunnelNotStarted(
      'The credential with the token of the tunnel is missing or expired. Set the token again',
    );
  vault.used(credential_id);
  return token;
};

/** Returns the path of a known_hosts file with the accepted keys; null to use that of this user. */
const keepHostKeys = async (
  home: string,
  { hostKeys = [] }: TunnelSettings,
): Promise<string | null> => {
  if (hostKeys.length === 0) return null;
  const folder = join(home, 'tunnel');
  const file = join(folder, 'known_hosts');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(file, hostKeys.map((key) => `${HOST_ALIAS} ${key}\n`).join(''), { mode: 0o600 });
  return file;
};

export interface TunnelDeps {
  config: Config;
  hub: Hub;
  vault: Vault;
  unsealToken(id: string, sealed: string): string;
}
