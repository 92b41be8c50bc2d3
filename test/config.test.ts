import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { BadSetting, readConfig, settings, toVariableName } from '../src/config.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

describe('config', () => {
  let folder: string;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'adjutant-config-'));
  });

  after(() => {
    rmSync(folder, { recursive: true });
  });

  it('has a default for everything', () => {
    const initial = Object.entries(settings).map(([key, { initial }]) => [key, initial]);
    expect(readConfig({}, {})).to.equal({
      ...Object.fromEntries(initial),
      home: join(homedir(), '.adjutant'),
    });
  });

  it('lets flags win over the environment', () => {
    const environment = { ADJUTANT_PORT: '4000', ADJUTANT_HOST: '::1' };
    const { port, host } = readConfig({ port: 5000 }, environment);
    expect({ port, host }).to.equal({ port: 5000, host: '::1' });
  });

  it('takes an empty variable for one that is not set', () => {
    expect(readConfig({}, { ADJUTANT_PORT: '' }).port).to.equal(3005);
  });

  it('spells variables with underscores', () => {
    expect(toVariableName('ratePerUser')).to.equal('ADJUTANT_RATE_PER_USER');
  });

  it('reads lists', () => {
    const { origins, trustedProxies } = readConfig(
      {},
      {
        ADJUTANT_ORIGINS: 'https://a.example, http://localhost:3000',
        ADJUTANT_TRUSTED_PROXIES: '10.0.0.0/8 ::1',
      },
    );
    expect(origins).to.equal(['https://a.example', 'http://localhost:3000']);
    expect(trustedProxies).to.equal(['10.0.0.0/8', '::1']);
  });

  for (const [name, value] of Object.entries({
    ADJUTANT_PORT: '65536',
    ADJUTANT_AUDIT_HEADS: 'heads',
    ADJUTANT_HOOK_CONCURRENCY: '1.5',
    ADJUTANT_TOKEN_HOURS: 'many',
    ADJUTANT_REGISTRATION: 'everybody',
    ADJUTANT_ALLOW_UNCONFINED: 'yes',
    ADJUTANT_TRUSTED_PROXIES: '10.0.0.0/8, proxy.example.org',
    ADJUTANT_ORIGINS: 'https://a.example/path',
    ADJUTANT_PUBLIC_URL: 'hooks.example.org',
    ADJUTANT_EGRESS_ALLOW: '10.0.0.0/99',
    ADJUTANT_BACKUP_EVERY: 'weekly',
    ADJUTANT_BACKUP_FOLDER: 'backups',
    ADJUTANT_MODEL_URL: 'file:///etc/passwd',
    ADJUTANT_RATE_PER_USR: '5',
  })) {
    it(`refuses ${name}=${value} and names it`, () => {
      expect(() => readConfig({}, { [name]: value })).to.throw(BadSetting, new RegExp(name));
    });
  }

  it('reads how often in hours', () => {
    const read = (given: string) => readConfig({}, { ADJUTANT_BACKUP_EVERY: given }).backupEvery;
    expect(['daily', '6h', '6', '0'].map(read)).to.equal([24, 6, 6, 0]);
  });

  it('reads secrets from the file that is named', () => {
    const file = join(folder, 'password');
    writeFileSync(file, 'from the file\n');
    const environment = { ADJUTANT_ADMIN_PASSWORD_FILE: file };
    expect(readConfig({}, environment).adminPassword).to.equal('from the file');
  });

  it('refuses a file of a secret that is not there', () => {
    const environment = { ADJUTANT_MASTER_KEY_FILE: join(folder, 'none') };
    expect(() => readConfig({}, environment)).to.throw(BadSetting, /ADJUTANT_MASTER_KEY_FILE/);
  });

  it('says nothing of a secret', () => {
    const secrets = Object.entries(settings).filter(([, setting]) => 'isSecret' in setting);
    expect(secrets.map(([key]) => key)).to.equal([
      'adminPassword',
      'masterKey',
      'searchKey',
      'backupPassphrase',
      'modelKey',
    ]);
  });
});
