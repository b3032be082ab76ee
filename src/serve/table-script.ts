/** Contains the script of a table's page. The grid requests each page of rows from the service, and the URL shows the state of the grid. */

export const tableScript = `
import DataTable from '/assets/grid.mjs';
const { name, auth, snapshot, rows, columns } = JSON.parse(document.getElementById('settings').textContent);
const inputs = [...document.querySelectorAll('[data-filter]')];
const problem = document.getElementById('problem'), keyForm = document.getElementById('key');
const path = '/tables/' + encodeURIComponent(name);
const given = new URLSearchParams(location.search);
for (const input of inputs) input.value = given.get('where.' + input.dataset.filter) ?? '';
const known = new Set(['sort', 'limit', 'offset', ...inputs.map((input) => 'where.' + input.dataset.filter)]);
let key = sessionStorage.getItem('key');

/** Sends the key where the project declares it. */
const send = (url) => {
  if (auth === null || key === null) return fetch(url);
  if ('query' in auth) return fetch(url + (url.includes('?') ? '&' : '?') + encodeURIComponent(auth.query) + '=' + encodeURIComponent(key));
  const headers = 'header' in auth ? { [auth.header]: key } : { authorization: 'bearer' in auth || 'oauth2' in auth ? 'Bearer ' + key : 'Basic ' + btoa(key) };
  return fetch(url, { headers });
};
const read = async (url) => {
  const response = await send(url).catch(() => null);
  const isAsked = response?.status === 401 && key === null;
  problem.textContent = response === null ? 'The service does not answer.' : response.ok || isAsked ? '' : (await response.json()).detail;
  keyForm.hidden = response?.status !== 401;
  return response?.ok ? response : null;
};
const parameters = (sort) => {
  const all = new URLSearchParams();
  if (sort !== '') all.set('sort', sort);
  // A parameter that the page doesn't know is refused by the service, not dropped.
  for (const [parameter, value] of given) if (!known.has(parameter)) all.set(parameter, value);
  for (const input of inputs) if (input.value.trim() !== '') all.set('where.' + input.dataset.filter, input.value.trim());
  return all;
};
const follow = (all) => history.replaceState(null, '', all.size === 0 ? location.pathname : '?' + all);
const sortOf = (order) => order.map(({ column, dir }) => (dir === 'desc' ? '-' : '') + columns[column].name).join(',');
const order = (given.get('sort') ?? '').split(',').flatMap((part) => {
  const at = columns.findIndex((column) => column.name === part.replace(/^-/, ''));
  return at < 0 ? [] : [[at, part.startsWith('-') ? 'desc' : 'asc']];
});

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 }), rounded = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const shownOf = (value, { isNumber, isGrouped }) => {
  if (value === null) return '–';
  if (!isNumber || !isGrouped) return String(value);
  return Number.isInteger(Number(value)) && String(value).indexOf('.') < 0 ? whole.format(BigInt(value)) : rounded.format(value);
};

const escapeHtml = (text) => text.replace(/[&<>"']/g, (one) => '&#' + one.charCodeAt(0) + ';');

const table = new DataTable('#rows', {
  serverSide: true,
  searching: false,
  autoWidth: false,
  titleRow: 0,
  orderCellsTop: true,
  order,
  pageLength: Number(given.get('limit') ?? rows),
  displayStart: Number(given.get('offset') ?? 0),
  lengthMenu: [20, 50, 200, 1000],
  language: { info: 'Rows _START_ to _END_ of _TOTAL_', infoEmpty: 'No rows', zeroRecords: '', emptyTable: 'No rows', lengthMenu: '_MENU_ rows per page' },
  layout: { topStart: 'info', topEnd: 'paging', bottomStart: 'pageLength', bottomEnd: null },
  columns: columns.map((column, at) => ({
    data: at,
    className: column.isNumber ? 'number' : '',
    render: (value, type) => (type === 'display' ? escapeHtml(shownOf(value, column)) : value),
    createdCell(cell, value) {
      const shown = shownOf(value, column), exact = String(value);
      if (value === null || !column.isNumber || shown.replaceAll(',', '') === exact) return;
      cell.tabIndex = 0;
      cell.title = exact;
      cell.addEventListener('focus', () => (cell.textContent = exact));
      cell.addEventListener('blur', () => (cell.textContent = shown));
    },
  })),
  async ajax({ draw, start, length, order }, done) {
    const all = parameters(sortOf(order));
    if (length !== rows) all.set('limit', length);
    if (start > 0) all.set('offset', start);
    follow(all);
    const response = await read(path + '/rows.json?' + all);
    const { count, rows: data, snapshot: now = snapshot } = response === null ? { count: 0, rows: [] } : await response.json();
    document.getElementById('snapshot').textContent = now;
    if (now !== snapshot) problem.textContent = 'A new snapshot was published. The rows are from ' + now + '. Reload the page to begin again.';
    done({ draw, recordsTotal: count, recordsFiltered: count, data });
  },
});

document.querySelectorAll('#rows thead th').forEach((head, at) => (head.title = columns[at].meaning));
for (const input of inputs) input.addEventListener('change', () => table.ajax.reload());
keyForm.addEventListener('submit', (event) => {
  event.preventDefault();
  key = keyForm.querySelector('input').value.trim();
  sessionStorage.setItem('key', key);
  table.ajax.reload();
});
for (const button of document.querySelectorAll('[data-form]'))
  button.addEventListener('click', async () => {
    const { form } = button.dataset;
    if (form === 'none') {
      for (const input of inputs) input.value = '';
      return table.ajax.reload();
    }
    const sorted = table.order().map(([column, dir]) => ({ column, dir }));
    const response = await read(path + '/rows.' + form + '?' + parameters(sortOf(sorted)));
    if (response === null) return;
    const url = URL.createObjectURL(await response.blob());
    Object.assign(document.createElement('a'), { href: url, download: name + '-' + document.getElementById('snapshot').textContent + '.' + form }).click();
    URL.revokeObjectURL(url);
  });
`;
