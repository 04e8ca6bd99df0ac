"""Abbreviations of some languages, for augmentation. A treebank has too few of them to learn from.

The language of a treebank is recognised by its most frequent words. For other languages, augmentation uses the
abbreviations of the treebank itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

N_FREQUENT = 40  # the number of most frequent words that identify the language


@dataclass(frozen=True, slots=True)
class Abbreviations:
    """Abbreviations by what stands next to them, each written with its period."""

    frequent: tuple[str, ...]  # words that identify the language
    titles: tuple[str, ...] = ()  # before a name
    suffixes: tuple[str, ...] = ()  # after a name
    numbered: tuple[str, ...] = ()  # before a number
    units: tuple[str, ...] = ()  # after a number
    others: tuple[str, ...] = ()  # between words


def listed(words: str) -> tuple[str, ...]:
    """Return words written with spaces between them."""
    return tuple(words.split())


_LANGUAGES = (
    Abbreviations(
        frequent=listed("the of and to in is for that"),
        titles=listed(
            "Mr. Mrs. Ms. Dr. Prof. Rev. Fr. Hon. Gov. Sen. Rep. Pres. Gen. Lt. Col. Maj. Capt. Cmdr. Adm. Sgt. Cpl. "
            "Pvt. Supt. Det. Insp. Atty. Amb. Sec. Msgr. St. Mt. Ft. Assoc. Asst. Dep. Messrs. U.S. U.K. U.N. v."
        ),
        suffixes=listed(
            "Jr. Sr. Inc. Ltd. Co. Corp. Bros. Esq. Ph.D. M.D. M.A. B.A. B.Sc. M.Sc. D.D.S. LL.B. R.N. St. Ave. Blvd. "
            "Rd. Ln. Dept. Univ. Assn. Intl. Mfg. Calif. Mass. Conn. Pa. Va. Fla. Tex. Ill. Wash. Ore. Ariz. Colo. "
            "Minn. Tenn. Mich. Wis. Ala. Ga. La. Md. N.Y. N.J. D.C. L.A. R.I. N.C. S.C. U.S. U.K. U.S.A."
        ),
        numbered=listed(
            "Jan. Feb. Mar. Apr. Jun. Jul. Aug. Sep. Sept. Oct. Nov. Dec. No. no. Nos. nos. p. pp. vol. Vol. Fig. fig. "
            "Figs. Eq. eq. Eqs. Sec. sec. Sect. Ch. ch. Chap. Art. art. Ex. ex. Ver. ver. Ref. ref. Tab. Pt. pt. Op. "
            "op. Ext. ext. Tel. tel. ca. c. approx. est. max. min. Sat. Sun. Mon. Tue. Tues. Wed. Thu. Thur. Fri. Apt. "
            "Rte. cf. v. al. avg. ed. col. par. sup."
        ),
        units=listed("a.m. p.m. A.M. P.M. ft. in. lb. lbs. oz. mi. sq. hrs. hr. min. sec. mos. yrs. yr. B.C. A.D."),
        others=listed(
            "vs. etc. e.g. i.e. cf. viz. incl. excl. resp. approx. dept. ed. eds. trans. misc. govt. assn. et~al. v. "
            "est. temp. attn. a.k.a. c.o.d. esp. orig. ibid. op.~cit. intl. natl. tech. univ. mgmt. mgr. equiv."
        ),
    ),
    Abbreviations(
        frequent=listed("de la le les et des en est"),
        titles=listed("M. MM. Me. Dr. Pr. Prof. Mgr. Gén. St. Ste."),
        suffixes=listed("Cie. Bd. Av."),
        numbered=listed("p. pp. vol. no. art. chap. fig. janv. févr. sept. oct. nov. déc. av. env. tél. éd. col. cf."),
        units=listed("min. av. apr."),
        others=listed("etc. cf. ex. env. p.~ex. c.-à-d. resp. éd. réf. max. min."),
    ),
    Abbreviations(
        frequent=listed("de a o que e do da em"),
        titles=listed(
            "Sr. Sra. Srs. Dr. Dra. Drs. Prof. Profa. Eng. Gen. Cel. Cap. Sto. Sta. S. D. Exmo. Av. R. sr. dr."
        ),
        suffixes=listed("Jr. Ltda. Cia. S.A. Inc. Ltd. Lda."),
        numbered=listed("p. pp. pág. págs. vol. n. no. art. cap. fig. tel. séc. jan. fev. set. out. nov. dez. ed. cf."),
        units=listed("h. min. seg. d.C. a.C."),
        others=listed("etc. ex. p.~ex. cf. aprox. obs. máx. mín. ed. trad. org. v."),
    ),
    Abbreviations(
        frequent=listed("de la que el en y los se"),
        titles=listed("Sr. Sra. Sres. Dr. Dra. Prof. D. Dña. Gral. Cap. Lic. Ing. Sto. Sta. Ud. Uds."),
        suffixes=listed("Jr. Ltda. Cía. S.A. S.L. Inc."),
        numbered=listed("p. pp. pág. págs. vol. núm. nº. art. cap. fig. tel. ene. feb. sept. oct. nov. dic. ed. cf."),
        units=listed("h. min. seg. a.C. d.C. a.m. p.m."),
        others=listed("etc. ej. p.~ej. cf. aprox. máx. mín. ed. trad. EE.UU."),
    ),
    Abbreviations(
        frequent=listed("der die und in den von zu das"),
        titles=listed("Dr. Prof. Hr. Fr. Frl. Dipl.-Ing. St. Gen. Abg. Hrn."),
        suffixes=listed("jr. Co. Str. e.V."),
        numbered=listed(
            "Nr. S. Bd. Abs. Art. Kap. Abb. Tab. Tel. Jan. Feb. Aug. Sept. Okt. Nov. Dez. ca. max. min. Std."
        ),
        units=listed("Mio. Mrd. Std. Min. v.~Chr. n.~Chr."),
        others=listed("usw. bzw. z.~B. d.~h. u.~a. etc. vgl. evtl. ggf. inkl. sog. bzgl. o.~ä. ca."),
    ),
    Abbreviations(
        frequent=listed("de van het een in en is dat"),
        titles=listed("dhr. mevr. mw. dr. drs. prof. ir. ing. mr. St. gen. kol."),
        suffixes=listed("jr. sr. N.V. B.V. Inc."),
        numbered=listed("nr. blz. p. pp. art. hfst. fig. tel. jan. feb. aug. sept. okt. nov. dec. ca. max. min."),
        units=listed("mln. mld. v.Chr. n.Chr. km. min. sec."),
        others=listed("o.a. bijv. enz. d.w.z. m.b.t. t.o.v. i.v.m. o.m. zgn. incl. excl. resp. vgl. ca. bv."),
    ),
)


def abbreviations_of(words: Iterable[str]) -> Abbreviations | None:
    """Return the list of the language of these words; None if there is none. Most of the words that identify a language
    must be among the most frequent."""
    counts = Counter(word for word in words if word.isalpha() and word.islower())
    frequent = {word for word, _ in counts.most_common(N_FREQUENT)}
    shares = [sum(word in frequent for word in of.frequent) / len(of.frequent) for of in _LANGUAGES]
    best = max(range(len(shares)), key=shares.__getitem__)
    return _LANGUAGES[best] if shares[best] > 0.75 else None
