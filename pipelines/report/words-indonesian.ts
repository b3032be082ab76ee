/** Indonesian texts of the report, in the terms of KPU and election monitors. */

import { html } from '../../src/runtime/html.ts';
import { listed, type Words } from './words-english.ts';

export const indonesian: Words = {
  title: 'Partisipasi pemilih',
  skip: 'Langsung ke data',
  mark: 'CONTOH',
  sample: 'Data contoh: angka-angka ini rekaan',
  read: (source, at) => html`Diambil dari ${source} pada ${at} UTC.`,
  madeUp: 'data contoh',
  otherElections: (names) =>
    `Snapshot ini juga memuat ${names}. Laporan ini membahas pemilu yang disebut dalam judulnya. Bagian yang mencakup semua pemilu diberi keterangan.`,
  allElections: 'Semua pemilu dalam snapshot ini',

  turnout: 'Tingkat partisipasi',
  men: 'Laki-laki',
  women: 'Perempuan',
  both: 'Total',
  voters: 'Pemilih',
  users: 'Pengguna hak pilih',
  place: 'Wilayah',
  regency: 'Kabupaten/kota',
  province: 'Provinsi',
  district: 'Dapil',
  usersCompared: 'Pengguna hak pilih',
  votersCompared: 'Pemilih (DPT + DPK)',

  headline: ({ rate, users, voters, compared, of }) =>
    html`Tingkat partisipasi pemilih mencapai ${rate}: ${users} pengguna hak pilih ÷ ${voters} pemilih dalam DPT dan
    DPK, di ${compared} dari ${of} kabupaten/kota.`,
  womenHigher: (women, of) =>
    html`Tingkat partisipasi perempuan lebih tinggi daripada tingkat partisipasi laki-laki di ${women} dari ${of}
    provinsi.`,
  menHigher: (men, of) =>
    html`Tingkat partisipasi laki-laki lebih tinggi daripada tingkat partisipasi perempuan di ${men} dari ${of}
    provinsi.`,
  equalRates: (equal) => html` Di ${equal} provinsi, tingkat partisipasi keduanya sama.`,
  unknownRates: (unknown) => html` Di ${unknown} provinsi, tingkat partisipasi tidak diketahui.`,
  extremes: (highest, high, lowest, low) =>
    html`Tingkat partisipasi tertinggi tercatat di ${highest} (${high}) dan terendah di ${lowest} (${low}).`,
  otherExtremes: (highest, high, lowest, low) =>
    html` Jika data yang tidak konsisten ikut dihitung dan semua provinsi diperingkat, yang tertinggi adalah ${highest}
    (${high}) dan yang terendah ${lowest} (${low}).`,
  allEqual: (equal) => html`Tingkat partisipasi laki-laki dan perempuan sama di ${equal} provinsi.`,
  partial: (share) => html`mencakup ${share} pemilihnya`,
  partialKey: 'mencakup sebagian',
  partialPlaces: (least) =>
    html`Provinsi atau dapil diberi tanda dan tidak diperingkat jika kabupaten/kota yang dihitung mencakup kurang dari
    ${least} pemilihnya yang diketahui.`,
  noRate: (reasons) => html`tidak ada kabupaten/kota yang dihitung: ${listed(reasons, 'dan')}`,
  exactly: (places, _, rate) => html`${places} kabupaten/kota mencatat tingkat partisipasi tepat ${rate}.`,
  above: (places, _, rate) => html`${places} kabupaten/kota mencatat tingkat partisipasi di atas ${rate}.`,
  leftOut: (reasons) => html`Kabupaten/kota yang tidak dihitung dalam tingkat partisipasi: ${listed(reasons, 'dan')}.`,
  leftReasons: {
    missing: (count) => html`${count} tidak ada di salah satu dataset`,
    unknown: (count) => html`${count} dengan angka yang tidak diketahui`,
    zero_denominator: (count) => html`${count} tanpa pemilih laki-laki atau tanpa pemilih perempuan dalam DPT`,
    contradicting: (count) => html`${count} dengan data yang tidak konsisten`,
  },
  withContradicting: (rate, fraction) =>
    html`Jika data yang tidak konsisten ikut dihitung, tingkat partisipasi menjadi ${rate} (${fraction}).`,
  coverage: (regencies) => html`dalam semua daftar, di ${regencies} kabupaten/kota`,
  perVoters: (asKpu) =>
    html`Tingkat partisipasi adalah jumlah pengguna hak pilih di semua daftar dibagi jumlah pemilih dalam DPT dan
    DPK${asKpu ? html`, sesuai dengan cara penghitungan KPU untuk Pemilu <time>2024</time>` : null}.`,

  provinces: 'Tingkat partisipasi per provinsi',
  districts: 'Tingkat partisipasi per daerah pemilihan (dapil)',
  namesDiffer: (problems) =>
    html`Sebagian dapil memakai nama provinsi yang bukan provinsi kabupaten/kotanya, sehingga angkanya berbeda dari
    angka provinsi tersebut. Daftarnya ada di bagian ${problems}.`,
  dots: 'Lingkaran: laki-laki. Belah ketupat: perempuan. Angka: laki-laki dan perempuan.',
  map: 'Peta petak provinsi',
  tileKey: 'Keterangan kode',
  notOnMap: (names) => `Tidak ada di peta karena namanya tidak cocok dengan nama resmi: ${names}.`,
  unknown: 'tidak diketahui',
  note: 'Catatan',
  share: 'Bagian dalam persen',
  printAll: 'Cetak juga tabel kabupaten/kota dan semua bagian yang terlipat',
  asTable: 'Tampilkan angka',
  highest: 'Tingkat partisipasi tertinggi',
  lowest: 'Tingkat partisipasi terendah',
  ranked: 'Peringkat hanya mencakup kabupaten/kota dengan data lengkap dan konsisten.',
  tied: (tied, rate, shown) =>
    html`${tied} kabupaten/kota memiliki tingkat partisipasi yang sama, yaitu ${rate}. Daftar ini menampilkan ${shown}
    di antaranya menurut urutan abjad.`,

  regencies: 'Semua kabupaten/kota',
  regenciesMean:
    'Tingkat partisipasi per kabupaten/kota adalah jumlah pengguna hak pilih di semua daftar dibagi jumlah pemilih dalam DPT dan DPK.',
  search: 'Cari kabupaten/kota',
  allProvinces: 'Semua provinsi',
  onlyProblems: 'Hanya yang bermasalah',
  problems: 'Masalah',
  statuses: {
    'missing in a dataset': 'tidak ada di salah satu dataset',
    unknown: 'angka tidak diketahui',
    'zero denominator': 'tanpa pemilih laki-laki atau perempuan dalam DPT',
    contradicting: 'tidak konsisten',
    compared: '',
  },
  moreRegencies: (left) => html`View ${html`<code>turnout</code>`} memuat ${left} kabupaten/kota lainnya.`,

  lists: 'Tiga daftar pemilih',
  listsMean:
    'Ketiga daftar itu adalah daftar pemilih tetap (DPT), daftar pemilih tambahan (DPTb), dan daftar pemilih khusus (DPK). Grafik batang menunjukkan proporsi DPTb dan DPK terhadap semua pemilih dan pengguna hak pilih di kabupaten/kota yang dihitung.',
  list: 'Daftar',
  rate: 'Pengguna ÷ pemilih',
  listRates: 'Pengguna ÷ pemilih di kabupaten/kota yang dihitung',
  shareOf: { voters: 'dari semua pemilih', users: 'dari semua pengguna hak pilih' },
  listCounts: 'Jumlah laki-laki dan perempuan yang diketahui di tiap daftar, semua kabupaten/kota',
  chainEqual: { voters: 'Pemilih', voting_rights_users: 'Pengguna hak pilih' },
  chain: (what, total, difference, leaves) =>
    html`${what}: jumlah total dari sumber adalah ${total}. Setelah dikurangi selisih pada bagian
    ${html`<a href="#reconciliation">Pemeriksaan penjumlahan</a>`} (${difference}), hasilnya sama dengan jumlah ketiga
    daftar (${leaves}).`,
  sums: 'Pemeriksaan penjumlahan',
  sumsMean:
    'Setiap baris membandingkan total dari sumber dengan jumlah bagiannya. Total dari sumber dikurangi selisih sama dengan jumlah bagian yang diketahui. View reconciliation memuat semua baris yang menyebabkan selisih.',
  sum: 'Penjumlahan',
  sourceTotal: 'Total dari sumber',
  knownParts: 'Jumlah bagian yang diketahui',
  difference: 'Selisih',
  rowsListed: 'Baris dengan selisih',

  trust: 'Apakah data ini dapat dipercaya?',
  proved: 'Kelengkapan',
  provedMeans: (dataset, complete, withRecords, records) =>
    html`${html`<strong>${dataset}</strong>`}: dari ${withRecords} dapil yang memiliki data, ${complete} terbukti
    lengkap (${records} data).`,
  confirmed: (listed_, again) =>
    html` ${listed_} dapil dikonfirmasi melalui daftar lengkap dan permintaan per dapil, ${again} melalui pembacaan
    berulang per dapil.`,
  empty: (empty) => html` Data ${empty} dapil lain juga diminta, tetapi tidak tersedia.`,
  dataset: 'Dataset',
  records: 'Data',
  passes: 'Jumlah pembacaan',
  listedRecords: 'Dalam daftar lengkap',
  proof: 'Dasar pembuktian',
  proofs: { 'own end': 'halaman dapil', 'full listing': 'daftar lengkap', none: 'belum terbukti' },
  readAt: 'Diambil (UTC)',
  allDistricts: 'Tampilkan semua dapil',
  ledger: 'Hasil pemrosesan data',
  fetched: 'Diambil',
  published: 'Diterbitkan',
  quarantined: 'Dikarantina',
  duplicates: 'Ganda',
  carried: 'Dari snapshot sebelumnya',
  rows: 'Baris',

  columns: {
    dpt_male: 'laki-laki dalam DPT',
    dpt_female: 'perempuan dalam DPT',
    dpt_total: 'laki-laki dan perempuan dalam DPT',
    dptb_male: 'laki-laki dalam DPTb',
    dptb_female: 'perempuan dalam DPTb',
    dptb_total: 'laki-laki dan perempuan dalam DPTb',
    dpk_male: 'laki-laki dalam DPK',
    dpk_female: 'perempuan dalam DPK',
    dpk_total: 'laki-laki dan perempuan dalam DPK',
    male_total: 'laki-laki di semua daftar',
    female_total: 'perempuan di semua daftar',
    grand_total: 'laki-laki dan perempuan di semua daftar',
    election_year: 'tahun pemilu',
    election_type: 'jenis pemilu',
    dapil_id: 'nomor dapil',
    dapil_name: 'nama dapil',
    province: 'provinsi',
    regency: 'kabupaten/kota',
  },
  violations: 'Masalah pada data',
  violationsMean:
    'Masalah berikut berasal dari data sumber. rekap tidak mengoreksi apa pun: barisnya diterbitkan dan ditandai. Data yang tidak dapat menjadi baris, misalnya dua data dengan kunci yang sama tetapi angka berbeda, masuk karantina.',
  noViolations: 'Data lolos semua pemeriksaan.',
  severities: {
    error: (count) => html`${count} kesalahan`,
    warning: (count) => html`${count} peringatan`,
  },
  oneSeverity: { error: 'kesalahan', warning: 'peringatan' },
  ages: (fresh, resolved) => html` (${fresh} baru, ${resolved} teratasi sejak snapshot sebelumnya)`,
  elsewhere: (count) => html`Masalah pada data pemilu lain dalam snapshot ini: ${count}.`,
  isNew: 'baru',
  since: 'sejak',
  wholeDistrict: 'Seluruh dapil',
  morePlaces: (left) => html`Tabel ${html`<code>violations</code>`} memuat ${left} wilayah lainnya.`,
  evidence: 'Bukti',
  fromAll: 'daftar lengkap',
  fromDistrict: 'daftar per dapil',
  notKept: 'Respons berasal dari pengambilan data sebelumnya, atau tidak disimpan lagi.',
  restated: 'Perubahan data oleh sumber sejak snapshot sebelumnya',
  nothingRestated: 'Tidak ada perubahan.',
  noPrevious: 'Ini snapshot pertama dari sumber ini.',
  moreRestated: (left) => html`Tabel ${html`<code>changes</code>`} memuat ${left} nilai lainnya.`,
  column: 'Kolom',
  before: 'Sebelumnya',
  after: 'Sekarang',
  withoutCode: (names) =>
    `Tidak memiliki kode resmi (Kemendagri) karena namanya tidak cocok dengan nama resmi: ${names}.`,
  method: 'Metode',
  carriedOver: (carried, rows) =>
    html`${carried} dari ${rows} baris tidak diambil saat itu, tetapi berasal dari pengambilan data sebelumnya.`,
  requested: (isWhole) =>
    isWhole
      ? 'rekap meminta data setiap daerah pemilihan.'
      : 'Pengambilan data ini hanya meminta sebagian daerah pemilihan. Baris lainnya berasal dari pengambilan data sebelumnya.',
  methodText:
    'rekap menyimpan setiap respons apa adanya. rekap mengonversi teks angka menjadi bilangan bulat tanpa perkiraan, lalu membandingkan jumlah laki-laki, perempuan, dan total. Angka yang tidak diketahui tidak pernah dihitung sebagai nol. Tingkat partisipasi hanya mencakup kabupaten/kota yang semua angkanya diketahui, tidak mengandung kesalahan, dan memiliki pemilih laki-laki dan perempuan dalam DPT.',
  again: (verify, replay, evidence) =>
    html`Untuk memeriksa sendiri, jalankan perintah berikut: ${verify} membandingkan berkas, jumlah, dan respons,
    ${replay} membangun ulang tabel, dan ${evidence} menunjukkan data di balik sebuah angka.`,
  figureNames: 'Dalam kode sumber halaman ini, setiap angka menyebutkan asalnya: view, kolom, dan kunci.',
  warnings: 'Peringatan saat pengambilan data',
  hashes: 'Berkas snapshot ini dan SHA-256-nya',
  file: 'Berkas',
  snapshot: 'Snapshot',

  pinned:
    'Snapshot ini disematkan: snapshot ini tetap berlaku meskipun sinkronisasi menyimpan snapshot yang lebih baru.',
  otherPinned: (pinned) => html`Snapshot ini tidak berlaku karena snapshot ${pinned} disematkan.`,
  unknownTotals: (voters, users) =>
    html`Jumlah total tidak diketahui di ${voters} kabupaten/kota untuk pemilih dan di ${users} untuk pengguna hak
    pilih. Kabupaten/kota tersebut tidak termasuk dalam jumlah di atas.`,
  warningsOnly: (places) => html`Tampilkan ${places} wilayah lain yang hanya memiliki peringatan`,
};
