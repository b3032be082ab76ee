/** Options by which a sync tells others how it went. */

import type { Options } from './option.ts';

export const notifyOptions = {
  'ping-url': {
    type: 'text',
    takes: 'URL',
    describe:
      "URL of a dead man's switch; rekap sends requests to URL/start before a sync, URL after a success, URL/fail after a failure",
  },
  'ping-url-file': { type: 'text', takes: 'FILE', describe: 'file with the URL for --ping-url' },
  'on-publish': {
    type: 'text',
    takes: 'COMMAND',
    describe: 'command to run after a snapshot is published; it gets the run as JSON on stdin',
  },
  'on-unchanged': { type: 'text', takes: 'COMMAND', describe: 'command to run after a sync without changes' },
  'on-failure': { type: 'text', takes: 'COMMAND', describe: 'command to run after a sync that fails or is refused' },
  'metrics-file': {
    type: 'text',
    takes: 'FILE',
    describe:
      'file for the textfile collector of the Prometheus node exporter, such as …/rekap.prom; replaced after each sync',
  },
  webhook: { type: 'text', takes: 'URL', describe: 'URL that gets each run as a POST request with JSON' },
  'webhook-secret-file': {
    type: 'text',
    takes: 'FILE',
    describe: 'file with the secret that signs webhook requests (HMAC-SHA256)',
  },
} as const satisfies Options;
