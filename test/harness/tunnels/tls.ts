import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface Certificate {
  certificate: string;
  key: string;
}

/** Host, and validity in days from now. */
interface Issuing {
  host?: string;
  from?: number;
  days?: number;
}

const DAY_MS = 86_400_000;

/** A private certificate authority, trusted through NODE_EXTRA_CA_CERTS. */
export interface Authority {
  folder: string;
  file: string;
  issue(name: string, options?: Issuing): Promise<Certificate>;
  remove(): Promise<void>;
}

export const opensslMissing = (): string | null =>
  existsSync('/usr/bin/openssl') ? null : 'openssl is not installed';

const run = promisify(execFile);
const openssl = (...args: string[]) => run('openssl', args);

export const makeAuthority = async (): Promise<Authority> => {
  const folder = await mkdtemp(join(tmpdir(), 'adjutant-tls-'));
  const at = (name: string): string => join(folder, name);
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const subject = ['-subj', '/CN=Adjutant test authority', '-days', '2'];
  await openssl('req', '-x509', ...key, ...subject, '-keyout', at('ca.key'), '-out', at('ca.pem'));
  await writeFile(at('ca.conf'), settingsOf(folder));
  await writeFile(at('index'), '');
  return {
    folder,
    file: at('ca.pem'),
    issue: async (name, { host = 'localhost', from = 0, days = 60 } = {}) => {
      const files = { certificate: at(`${name}.pem`), key: at(`${name}.key`) };
      const [request, names] = [at(`${name}.csr`), `subjectAltName=DNS:${host}`];
      await openssl(
        ...['req', '-new', ...key, '-subj', `/CN=${host}`, '-addext', names],
        ...['-keyout', files.key, '-out', request],
      );
      await openssl(
        ...['ca', '-batch', '-notext', '-config', at('ca.conf'), '-in', request],
        ...['-startdate', dateOf(from), '-enddate', dateOf(days), '-out', files.certificate],
      );
      return files;
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
};

/** `openssl x509` cannot set the first day, so the authority uses `openssl ca`. */
const settingsOf = (folder: string): string => `
[ca]
default_ca = ours
[ours]
certificate = ${folder}/ca.pem
private_key = ${folder}/ca.key
database = ${folder}/index
new_certs_dir = ${folder}
default_md = sha256
rand_serial = yes
unique_subject = no
copy_extensions = copyall
policy = any
[any]
commonName = supplied
`;

const dateOf = (days: number): string =>
  new Date(Date.now() + days * DAY_MS).toISOString().replace(/[-:T]|\.\d+/g, '');
