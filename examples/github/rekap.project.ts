import { defineProject } from 'rekap';

export default defineProject({
  name: 'github',
  title: 'Issues of a repository',
  auth: { bearer: true, variable: 'GITHUB_TOKEN' },
  headers: { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' },
  paging: { by: 'next', link: true, size: 'per_page' },
  records: '',
});
