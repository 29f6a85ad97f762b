// What the words beside a picture mean: one sentence and the formula of each. Python reads this table too (definitions.py).
// y is the explained class, G the computation graph, G_S the part that is shown.
export const DEFINITIONS = {
  "G_S": ["The part that is shown: the few nodes and edges that the prediction rests on.", "G_S ⊆ G"],
  "K_M": ["The size of the part that is shown; “auto” is the smallest that is nearly as good as any.", "|G_S| ≤ K_M"],
  "K_F": ["How many features are marked: those that weigh most on the part that is shown.", "F_S = the K_F features of largest weight"],
  "sufficiency": ["How much of the probability the part gives alone.", "min(1, P(y | G_S) / P(y | G))"],
  "necessity": ["How much probability is lost without the part.", "P(y | G) − P(y | G without G_S)"],
  "fidelity+": ["What the class loses when the part is taken away: high if the network needs it.", "P(y | G) − P(y | G without G_S)"],
  "fidelity−": ["What the class loses when only the part is left: near zero if it is enough.", "P(y | G) − P(y | G_S)"],
  "sparsity": ["The share of the edges that the part leaves out.", "1 − |edges of G_S| / |edges of G|"],
  "edge AUC": ["How surely an edge of the known answer outranks another edge; one half is chance.", "P(weight of a true edge > weight of another)"],
  "starts": ["Learning begins with random numbers: each start is the same question with other ones, and they should agree.", "in common: mean of |A ∩ B| / |A ∪ B|, the edges of two starts"]
};
