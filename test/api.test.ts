import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { resources } from './harness/api.js';
import { projectRoot } from './harness/sources.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** Ours: public endpoints beyond the specification, each with its own way to know who asks. */
const PUBLIC_EXTRAS = [
  'GET /metrics',
  'GET /api/messenger-webhook',
  'GET /api/tasks.ics',
  'GET /api/webhooks/{path}/challenge',
  'GET /api/webhooks/{path}/try',
  'POST /api/auth/passkey/redeem',
  'POST /api/auth/reset',
  'GET /api/saml/metadata',
  'GET /api/saml/login',
  'POST /api/saml/acs',
  'POST /api/saml/session',
];

describe('api', () => {
  it('knows the specification', () => {
    expect(specified().length).to.equal(130);
  });

  it('routes every endpoint of the specification', () => {
    expect(missing(specified(), routed())).to.equal([]);
  });

  it('routes no endpoint twice', () => {
    const seen = routed().map(shape);
    expect(seen.filter((one, at) => seen.indexOf(one) !== at)).to.equal([]);
  });

  it('needs no token exactly where the specification says so', () => {
    const open = routed().filter((one) => one.isPublic && !PUBLIC_EXTRAS.includes(one.name));
    const wanted = specified().filter((one) => one.isPublic);
    expect({ more: missing(open, wanted), fewer: missing(wanted, open) }).to.equal({
      more: [],
      fewer: [],
    });
  });

  it('keeps /api/admin to admins', () => {
    const under = routed().filter(({ name }) => name.includes(' /api/admin/'));
    expect(under.filter(({ isAdmin }) => !isAdmin)).to.equal([]);
  });
});

interface Listed {
  /** As listed, `GET /api/hooks/:id`. */
  name: string;
  isPublic: boolean;
}

/** The endpoint tables: `| METHOD | /path | purpose |`, some with an Auth column before the last. */
const specified = (): Listed[] => {
  const spec = readFileSync(join(projectRoot(), 'test/spec/interface.md'), 'utf8');
  return spec.split(/^### /m).flatMap((section) => {
    const isOpen = section.startsWith('Health');
    const rows = section.matchAll(/^\| (GET|POST|PUT|PATCH|DELETE) \| (\/\S*) \|(.*)\|$/gm);
    return [...rows].map(([, method = '', path = '', rest = '']) => {
      const isPublic = isOpen || /^ (No|Public|Not shown) \|/.test(rest);
      return { name: `${method} ${path}`, isPublic };
    });
  });
};

const routed = () =>
  resources.flatMap(({ contract }) =>
    Object.values(contract).map((endpoint) => ({
      name: `${endpoint.method} ${endpoint.path}`,
      isPublic: endpoint.access === 'public' || endpoint.access === 'optional',
      isAdmin: endpoint.access === 'admin',
    })),
  );

/** The name of a path parameter makes no difference. */
const shape = ({ name }: { name: string }): string => name.replace(/:\w+|\{\w+\}/g, '{}');

const missing = (wanted: { name: string }[], present: { name: string }[]): string[] => {
  const shapes = new Set(present.map(shape));
  return wanted.filter((one) => !shapes.has(shape(one))).map(({ name }) => name);
};
