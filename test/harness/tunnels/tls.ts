import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface Certificate {
  certificate: string;
  key: string;
}

/** An authority of our own, whom a daemon trusts by NODE_EXTRA_CA_CERTS, and what it signed. */
export interface Authority {
  folder: string;
  /** Its own certificate. */
  file: string;
  issue(name: string, options?: { host?: string; days?: number }): Promise<Certificate>;
  remove(): Promise<void>;
}

export const noOpenssl = (): string | null =>
  existsSync('/usr/bin/openssl') ? null : 'openssl is not installed';

const run = promisify(execFile);
const openssl = (...args: string[]) => run('openssl', args);

export const makeAuthority = async (): Promise<Authority> => {
  const folder = await mkdtemp(join(tmpdir(), 'adjutant-tls-'));
  const at = (name: string): string => join(folder, name);
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const subject = ['-subj', '/CN=Adjutant test authority', '-days', '2'];
  await openssl('req', '-x509', ...key, ...subject, '-keyout', at('ca.key'), '-out', at('ca.pem'));
  return {
    folder,
    file: at('ca.pem'),
    issue: async (name, { host = 'localhost', days = 60 } = {}) => {
      const files = { certificate: at(`${name}.pem`), key: at(`${name}.key`) };
      const [request, names] = [at(`${name}.csr`), `subjectAltName=DNS:${host}`];
      await openssl(
        ...['req', '-new', ...key, '-subj', `/CN=${host}`, '-addext', names],
        ...['-keyout', files.key, '-out', request],
      );
      await openssl(
        ...['x509', '-req', '-in', request, '-days', String(days), '-copy_extensions', 'copyall'],
        ...['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial'],
        ...['-out', files.certificate],
      );
      return files;
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
};
