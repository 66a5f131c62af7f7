"""The README's first program in short: a model of scikit-learn, and a decrypted prediction."""

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hesc.ml import PrivateClassifier, Scores

X, y = load_breast_cancer(return_X_y=True)
model = make_pipeline(StandardScaler(), LogisticRegression())
private = PrivateClassifier(model).fit(X[:400], y[:400])
private.plan(X[:400], Scores(ranges=(0, 5000)))
predicted = private.predict(X[400:401], fhe="execute")
assert predicted == private.predict(X[400:401]), predicted
print(predicted)
