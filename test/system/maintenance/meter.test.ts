import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createMeter } from '../../../src/system/maintenance/meter.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('meter', () => {
  it('tells all that was counted, each time that it is read, and gauges as they are then', async () => {
    const jobs = { waiting: 3 };
    const gauges = { jobs_waiting: { help: 'Waiting jobs', read: () => jobs.waiting } };
    const meter = createMeter(gauges);
    meter.request('get', 200);
    meter.request('get', 200);
    meter.request('post', 401);
    meter.delivery('accepted');
    expect(await meter.text()).to.equal(TEXT);
    meter.request('get', 200);
    jobs.waiting = 0;
    expect((await meter.text()).split('\n').filter((line) => !TEXT.includes(line))).to.equal([
      'adjutant_http_requests_total{method="get",status="200"} 3',
      'adjutant_jobs_waiting 0',
    ]);
  });
});

const TEXT = `# HELP adjutant_http_requests_total HTTP requests by method and status
# TYPE adjutant_http_requests_total counter
adjutant_http_requests_total{method="get",status="200"} 2
adjutant_http_requests_total{method="post",status="401"} 1

# HELP adjutant_deliveries_total Received webhooks by verdict
# TYPE adjutant_deliveries_total counter
adjutant_deliveries_total{verdict="accepted"} 1

# HELP adjutant_jobs_waiting Waiting jobs
# TYPE adjutant_jobs_waiting gauge
adjutant_jobs_waiting 3
`;
