import sys; sys.path.insert(0,'/work/trees/attack')
import numpy as np, onnx
from tests.test_ml_onnx import written, X, Y, TWO, TREES
from sklearn.base import clone
from sklearn.ensemble import *
for m in TREES+[HistGradientBoostingClassifier(max_iter=5), AdaBoostClassifier(n_estimators=3)]:
    for y in (TWO,Y, np.where(TWO,"b","a")):
        try:
            mod=onnx.ModelProto.FromString(written(clone(m).fit(X,y)))
        except Exception as e: print(type(m).__name__, str(e)[:80]); continue
        for n in mod.graph.node:
            if n.op_type.startswith("TreeE"):
                a={x.name:onnx.helper.get_attribute_value(x) for x in n.attribute}
                print(type(m).__name__, n.op_type, set(a["class_ids"]) if "class_ids" in a else set(a["target_ids"]), a.get("post_transform"), a.get("base_values"), a.get("classlabels_int64s"), a.get("classlabels_strings"), a.get("nodes_missing_value_tracks_true", [])[:4], set(a["nodes_modes"]))
