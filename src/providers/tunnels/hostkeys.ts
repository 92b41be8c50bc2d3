import { createHash } from 'node:crypto';
import { programEnv, readProgramOutput } from '../../kernel/program.js';

export interface HostKey {
  /** As in a known_hosts file, without the host name: `ssh-ed25519 AAAA…`. */
  key: string;
  /** As ssh shows it: `SHA256:…`. */
  fingerprint: string;
}

export const HOST_KEY =
  /^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(?:256|384|521)) ([A-Za-z0-9+/]{32,2000}={0,2})$/;

/** Empty if the server does not respond. */
export const scanHostKeys = async (
  keyscan: string,
  { target, sshPort = 22, folders }: { target: string; sshPort?: number; folders: string[] },
): Promise<HostKey[]> => {
  const host = target.slice(target.lastIndexOf('@') + 1);
  const args = ['-T', '4', '-p', String(sshPort), '--', host];
  const output = await readProgramOutput(keyscan, args, programEnv(folders));
  return (output ?? '').split('\n').flatMap((line) => {
    const [, key = ''] = /^[^\s#]+ (.+)$/.exec(line.trim()) ?? [];
    const encoded = HOST_KEY.exec(key)?.[2];
    return encoded === undefined ? [] : [{ key, fingerprint: computeFingerprint(encoded) }];
  });
};

const computeFingerprint = (encoded: string): string => {
  const digest = createHash('sha256').update(Buffer.from(encoded, 'base64')).digest('base64');
  return `SHA256:${digest.replace(/=+$/, '')}`;
};
